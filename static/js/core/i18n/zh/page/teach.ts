// The page for lecturers, presenting, and the presenter's window.

export const TEACH = {
  "{file} has {n} mistakes": "{file} 有 {n} 处错误",
  "{file} has no mistake": "{file} 没有错误",
  "line {n}": "第 {n} 行",
  "{title}: {minutes} min, {steps} steps, {questions} questions":
    "{title}：{minutes} 分钟，{steps} 步，{questions} 个问题",
  "This file is not UTF-8 text.": "此文件不是 UTF-8 文本。",
};
