// Loads plotly's script when the first chart is drawn.
import { Offline, needsServer } from "../../data/api.ts";
import { hasServer } from "../../ui/dom.ts";

export type Plot = HTMLElement & { on: (name: string, listener: (event: any) => void) => void };
export type Plotly = {
  react: (node: HTMLElement, data: any[], layout: any, config: any) => Promise<Plot>;
  toImage: (figure: any, options: any) => Promise<string>;
  purge: (node: HTMLElement) => void;
  Fx: { hover: (node: HTMLElement, points: any) => void; unhover: (node: HTMLElement) => void };
};

let loading: Promise<Plotly> | null = null;

/** Plotly, loaded once; after a failure the next call tries again. */
export function plotly(): Promise<Plotly> {
  loading ??= load().catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

/** Plotly sets some styles as attributes, which the page's content security policy forbids as inline styles. Through
 * the object model they are allowed. */
function allowPlotlyStyles() {
  const { setAttribute } = Element.prototype;
  SVGElement.prototype.setAttribute = function set(this: SVGElement, name: string, value: string) {
    if (name === "style") this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}

function load(): Promise<Plotly> {
  if (!hasServer) return Promise.reject(needsServer());
  return new Promise((resolve, reject) => {
    allowPlotlyStyles();
    const script = document.createElement("script");
    script.src = document.documentElement.dataset.plotly ?? "";
    script.onload = () => resolve((window as any).Plotly);
    script.onerror = () => {
      script.remove();
      reject(new Offline());
    };
    document.head.append(script);
  });
}
