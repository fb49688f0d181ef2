// The papers that the schedules and the terms come from. Titles are theirs and stay in their language.

type Paper = { title: string; authors: string; year: number; doi: string };

const arxiv = (number: string) => `10.48550/arXiv.${number}`;

export const PAPERS = {
  gpipe: {
    title: "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism",
    authors: "Huang et al.",
    year: 2019,
    doi: arxiv("1811.06965"),
  },
  pipedream: {
    title: "PipeDream: Generalized Pipeline Parallelism for DNN Training",
    authors: "Narayanan et al.",
    year: 2019,
    doi: "10.1145/3341301.3359646",
  },
  flush: {
    title: "Memory-Efficient Pipeline-Parallel DNN Training",
    authors: "Narayanan et al.",
    year: 2021,
    doi: arxiv("2006.09503"),
  },
  megatron: {
    title: "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM",
    authors: "Narayanan et al.",
    year: 2021,
    doi: arxiv("2104.04473"),
  },
  recomputation: {
    title: "Reducing Activation Recomputation in Large Transformer Models",
    authors: "Korthikanti et al.",
    year: 2022,
    doi: arxiv("2205.05198"),
  },
  breadth: {
    title: "Breadth-First Pipeline Parallelism",
    authors: "Lamy-Poirier",
    year: 2022,
    doi: arxiv("2211.05953"),
  },
  zero: {
    title: "Zero Bubble Pipeline Parallelism",
    authors: "Qi et al.",
    year: 2023,
    doi: arxiv("2401.10241"),
  },
  memory: {
    title: "Pipeline Parallelism with Controllable Memory",
    authors: "Qi et al.",
    year: 2024,
    doi: arxiv("2405.15362"),
  },
  vocabulary: {
    title: "Balancing Pipeline Parallelism with Vocabulary Parallelism",
    authors: "Yeung et al.",
    year: 2024,
    doi: arxiv("2411.05288"),
  },
  deepseek: {
    title: "DeepSeek-V3 Technical Report",
    authors: "DeepSeek-AI",
    year: 2024,
    doi: arxiv("2412.19437"),
  },
  offload: {
    title: "PipeOffload: Improving Scalability of Pipeline Parallelism with Memory Optimization",
    authors: "Wan et al.",
    year: 2025,
    doi: arxiv("2503.01328"),
  },
  zeroOptimizer: {
    title: "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
    authors: "Rajbhandari et al.",
    year: 2020,
    doi: arxiv("1910.02054"),
  },
  palm: {
    title: "PaLM: Scaling Language Modeling with Pathways",
    authors: "Chowdhery et al.",
    year: 2022,
    doi: arxiv("2204.02311"),
  },
} satisfies Record<string, Paper>;
