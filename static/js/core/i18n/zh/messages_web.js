// Messages of the server by their codes: requests, links, pages and the command line.

/** @type {import("../language.js").Catalogue} */
export const WEB_MESSAGES = {
  "http.no_such_address": "此地址没有内容。",
  "http.method_not_allowed": "此地址只接受 {methods}。",
  "http.body_too_large": "请求体超过 {limit} 字节的上限。",
  "http.server_error": "出错的是服务器，不是你的请求；服务器日志中的编号为 {name}。",
  "http.other": "{reason}",
};
