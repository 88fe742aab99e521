--- Answers of the server as lines for a window.
local M = {}

local function is_set(value)
  return value ~= nil and value ~= vim.NIL and value ~= ""
end

-- "n=100, m=4", in the order of the names.
local function sizes(map)
  local parts = {}
  for _, name in ipairs(vim.fn.sort(vim.tbl_keys(map or {}))) do
    table.insert(parts, ("%s=%s"):format(name, map[name]))
  end
  return table.concat(parts, ", ")
end

local function extent(list)
  return type(list) == "table" and table.concat(list, ",") or "?"
end

local function counted(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

local function short(path)
  return vim.fn.fnamemodify(path, ":~:.")
end

-- A place is written so that gF goes there.
local function finding(one)
  local place = is_set(one.file) and short(one.file) .. ":" or ""
  if place ~= "" and is_set(one.line) then
    place = ("%s%d:%d:"):format(place, one.line, is_set(one.column) and one.column or 1)
  end
  local lines = { vim.trim(("%s %s: %s"):format(place, one.severity, one.message)) }
  if is_set(one.code) then
    lines[1] = ("%s [%s]"):format(lines[1], one.code)
  end
  if is_set(one.kernel) and type(one.block) == "table" and type(one.thread) == "table" then
    local times = is_set(one.count) and one.count > 1 and (", %d times"):format(one.count) or ""
    local where = "    in %s, block %s, thread %s%s"
    table.insert(lines, where:format(one.kernel, extent(one.block), extent(one.thread), times))
  end
  for _, other in ipairs(type(one.related) == "table" and one.related or {}) do
    if is_set(other.file) and is_set(other.line) then
      table.insert(lines, ("    %s:%d: %s"):format(short(other.file), other.line, other.message))
    end
  end
  return lines
end

local function add_findings(lines, list)
  for _, one in ipairs(type(list) == "table" and list or {}) do
    vim.list_extend(lines, finding(one))
  end
end

local function case_line(one)
  local what = sizes(one.sizes)
  local launch = one.launch or {}
  local text = ("%s%s, grid %s, block %s"):format(what ~= "" and what .. ": " or "", one.verdict or "?",
    extent(launch.grid), extent(launch.block))
  for _, output in ipairs(type(one.outputs) == "table" and one.outputs or {}) do
    if is_set(output.name) and is_set(output.max_abs_error) then
      text = ("%s, %s: %s, max error %.3g"):format(text, output.name,
        counted(output.mismatches or 0, "wrong element"), output.max_abs_error)
    end
  end
  return text
end

--- kernel/validate's.
function M.validation(result)
  local lines = { "verdict: " .. (result.summary or result.verdict) }
  if type(result.error) == "table" and is_set(result.error.message) then
    table.insert(lines, result.error.message)
    if is_set(result.error.hint) then
      table.insert(lines, result.error.hint)
    end
  end
  table.insert(lines, "")
  add_findings(lines, result.findings)
  add_findings(lines, type(result.check) == "table" and result.check.diagnostics)
  if #result.cases > 0 then
    vim.list_extend(lines, { "", counted(#result.cases, "trial") .. ":" })
    for _, one in ipairs(result.cases) do
      table.insert(lines, "  " .. case_line(one))
    end
  end
  if type(result.backend) == "table" and is_set(result.backend.device) then
    vim.list_extend(lines, { "", "ran on " .. result.backend.device .. ", seed " .. tostring(result.seed) })
  end
  return lines
end

local function kernel_lines(one)
  local spill = (one.spill_store_bytes or 0) + (one.spill_load_bytes or 0)
  local lines = {
    ("%s: %s, %d bytes spilled, %d bytes of static shared memory, %s of code"):format(one.name,
      counted(one.registers or 0, "register"), spill, one.static_shared_bytes or 0,
      counted(one.code_bytes or 0, "byte")),
  }
  for _, row in ipairs(type(one.occupancy) == "table" and one.occupancy or {}) do
    table.insert(lines, ("  %4d threads per block: %3.0f %% occupancy, limited by %s"):format(row.block_threads,
      row.percent, table.concat(row.limited_by or {}, ", ")))
  end
  return lines
end

--- kernel/check's.
function M.check(result)
  local lines = { result.summary, "" }
  add_findings(lines, result.diagnostics)
  for _, one in ipairs(type(result.kernels) == "table" and result.kernels or {}) do
    vim.list_extend(lines, kernel_lines(one))
  end
  return lines
end

--- What kernel/init could not know.
function M.unknown(result)
  local lines = { "wrote " .. short(tostring(result.path)), "" }
  for _, one in ipairs(result.unknown or {}) do
    table.insert(lines, ("not known: %s: %s"):format(one.member, one.why))
  end
  return lines
end

return M
