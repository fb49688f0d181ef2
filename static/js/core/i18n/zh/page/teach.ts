// The page for lecturers, presenting, and the presenter's window.

export const TEACH = {
  "{file} has {n} mistakes": "{file} 有 {n} 处错误",
  "{file} has no mistake": "{file} 没有错误",
  "line {n}": "第 {n} 行",
  "{title}: {minutes} min, {steps} steps, {questions} questions":
    "{title}：{minutes} 分钟，{steps} 步，{questions} 个问题",
  "present: full screen and large type, and back": "演示：全屏与大字，再按返回",
  Presenting: "演示",
  "Previous scene": "上一个场景",
  "Previous scene (Page ↑)": "上一个场景（Page ↑）",
  "Next scene": "下一个场景",
  "Next scene (Page ↓)": "下一个场景（Page ↓）",
  "Full screen": "全屏",
  "Full screen (F)": "全屏（F）",
  "Presenter's window": "演讲者窗口",
  "Presenter's window: notes, next scene, clock (N)": "演讲者窗口：备注、下一个场景、计时（N）",
  Leave: "退出",
  "Leave (Esc)": "退出（Esc）",
  "This view": "当前视图",
  Next: "下一个",
  "This file is not UTF-8 text.": "此文件不是 UTF-8 文本。",
};
