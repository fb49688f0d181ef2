// Papers that the facts beside the formulas cite, as links by title.
import { h } from "../../ui/dom.js";

/** @param {string} title @param {string} id of arXiv */
const arxiv = (title, id) => () =>
  h("a", { href: `https://arxiv.org/abs/${id}`, target: "_blank", rel: "noopener noreferrer", text: title });

/** By a short name. */
export const paper = {
  megatron: arxiv("Efficient Large-Scale Language Model Training on GPU Clusters", "2104.04473"),
  controllable: arxiv("Pipeline Parallelism with Controllable Memory", "2405.15362"),
  deepseek: arxiv("DeepSeek-V3 Technical Report", "2412.19437"),
  vocabulary: arxiv("Balancing Pipeline Parallelism with Vocabulary Parallelism", "2411.05288"),
  zeroBubble: arxiv("Zero Bubble Pipeline Parallelism", "2401.10241"),
};
