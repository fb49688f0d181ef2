// Why a schedule cannot have a size: what <bubble-line> says too.

export const FAMILIES_MESSAGES = {
  "schedule.chimera_needs_whole_units": "Chimera 每次取 p 个微批次，两个方向各一半；最接近的是 m = {nearest}",
  "schedule.family_takes_v_exactly": "{family} 的 v 只能是 {v}",
  "schedule.family_takes_v_from": "{family} 的 v 从 {least} 到 {most}",
  "schedule.group_larger_than_m": "group 至多为 m = {m}",
  "schedule.groups_deadlock": "在 {p} 个设备、v = {v} 时，每组 {group} 个会死锁；可行的最小值为 {nearest}",
  "schedule.groups_leave_a_rest": "每组 {group} 个时，m = {m} 个微批次会余下 {rest} 个；最接近的可行值为 m = {nearest}",
  "schedule.needs_even_m": "{family} 需要偶数个微批次；最接近的是 {nearest}",
  "schedule.needs_even_p": "{family} 需要偶数个设备；最接近的是 p = {nearest}",
  "schedule.needs_two_per_device": "{family} 至少需要 2p = {nearest} 个微批次",
  "schedule.whole_groups_needed": "微批次以 {group} 个为一组；最接近的整组数为 m = {nearest}",
};
