--- :UpskilldCheck, :UpskilldValidate, :UpskilldCheckSpec, :UpskilldRestart
local compat = require("upskilld.compat")
local report = require("upskilld.report")

local M = {}

local function complain(text)
  vim.notify("upskilld: " .. text, vim.log.levels.WARN)
end

--- The server of a buffer, or nil and a message.
local function server(bufnr)
  local client = compat.clients("upskilld", bufnr)[1]
  if not client then
    complain("no server is attached to this buffer (:checkhealth upskilld)")
  end
  return client
end

local function set_lines(bufnr, lines)
  local flat = {}
  for _, line in ipairs(lines) do
    vim.list_extend(flat, vim.split(tostring(line), "\n", { plain = true }))
  end
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, flat)
  vim.bo[bufnr].modifiable = false
end

-- Names of verdicts and severities in the colours of diagnostics.
local function colour()
  vim.fn.matchadd("DiagnosticError", [[^verdict: \(fail\|error\|timeout\)]])
  vim.fn.matchadd("DiagnosticWarn", [[^verdict: \(unjudged\|unsupported\)]])
  vim.fn.matchadd("DiagnosticInfo", [[^verdict: pass]])
  vim.fn.matchadd("DiagnosticError", [[:\d\+:\d\+: error:]])
  vim.fn.matchadd("DiagnosticWarn", [[:\d\+:\d\+: warning:]])
end

--- A window below for an answer; one of the same name is used again.
local function result_window(name)
  local bufnr = vim.fn.bufnr("^" .. vim.fn.escape(name, "[]*?\\") .. "$")
  if bufnr == -1 then
    bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(bufnr, name)
    vim.bo[bufnr].filetype = "upskilld"
  end
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    vim.cmd("botright 12split")
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
    vim.wo.number, vim.wo.wrap, vim.wo.winfixheight = false, false, true
    colour()
    vim.cmd("wincmd p")
  end
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = bufnr })
  vim.keymap.set("n", "<CR>", "gF", { buffer = bufnr, remap = true })
  return bufnr
end

--- Runs a command of the server; <C-c> in the result's window stops it.
local function ask(client, bufnr, window, request, render)
  set_lines(window, { "running … (Ctrl-C here stops it)" })
  local sent, id = compat.call(client, "request", "workspace/executeCommand", request, function(problem, result)
    if not vim.api.nvim_buf_is_valid(window) then
      return
    end
    if problem then
      local data = type(problem.data) == "table" and problem.data or {}
      set_lines(window, { problem.message, data.hint or "" })
    else
      set_lines(window, render(result))
    end
  end, bufnr)
  if not sent then
    set_lines(window, { "the server has ended; :UpskilldRestart starts it again" })
    return
  end
  vim.keymap.set("n", "<C-c>", function()
    compat.call(client, "cancel_request", id)
  end, { buffer = window })
end

local function path_of(bufnr)
  return vim.api.nvim_buf_get_name(bufnr)
end

local function window_for(verb, bufnr)
  return result_window(("upskilld://%s/%s"):format(verb, vim.fn.fnamemodify(path_of(bufnr), ":t")))
end

local function spec_of(path)
  return path:match("%.check%.json$") and path or path:gsub("%.cuh?$", "") .. ".check.json"
end

--- What the compiler knows of the buffer: findings, registers, occupancy.
function M.check()
  local bufnr = vim.api.nvim_get_current_buf()
  local client = server(bufnr)
  if client then
    local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n") .. "\n"
    ask(client, bufnr, window_for("check", bufnr), {
      command = "upskilld.kernel.check",
      arguments = { { path = path_of(bufnr), source = text } },
    }, report.check)
  end
end

--- Runs the kernel as its check spec says; what is found also stands at its lines.
function M.validate()
  local bufnr = vim.api.nvim_get_current_buf()
  local client = server(bufnr)
  if not client then
    return
  end
  if not vim.loop.fs_stat(spec_of(path_of(bufnr))) then
    complain(vim.fn.fnamemodify(spec_of(path_of(bufnr)), ":t") .. " is not there: :UpskilldCheckSpec begins it")
    return
  end
  ask(client, bufnr, window_for("validate", bufnr), {
    command = "upskilld.run",
    arguments = { "kernel/validate", { path = path_of(bufnr) }, vim.uri_from_bufnr(bufnr) },
  }, function(result)
    compat.refresh_lenses(bufnr)
    return report.validation(result)
  end)
end

--- Opens the buffer's check spec; one that is not there is begun from the host code.
function M.check_spec()
  local bufnr = vim.api.nvim_get_current_buf()
  local path = spec_of(path_of(bufnr))
  local function open()
    vim.cmd("split " .. vim.fn.fnameescape(path))
  end
  if vim.loop.fs_stat(path) then
    open()
    return
  end
  local client = server(bufnr)
  if client then
    ask(client, bufnr, window_for("check-spec", bufnr), {
      command = "upskilld.kernel.init",
      arguments = { { path = path_of(bufnr) } },
    }, function(result)
      vim.schedule(open)
      return report.unknown(result)
    end)
  end
end

-- Calls `next` when no server runs any more, or after five seconds.
local function when_ended(next, tries)
  if #compat.clients("upskilld") == 0 or tries == 0 then
    next()
  else
    vim.defer_fn(function()
      when_ended(next, tries - 1)
    end, 100)
  end
end

--- Ends the servers and starts them again for all buffers that they know.
function M.restart()
  compat.stop("upskilld")
  when_ended(function()
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(bufnr) then
        require("upskilld").start(bufnr)
      end
    end
  end, 50)
end

function M.define()
  local function define(name, run, desc)
    vim.api.nvim_create_user_command(name, run, { desc = desc })
  end
  define("UpskilldCheck", M.check, "What NVIDIA's compiler says of this CUDA file")
  define("UpskilldValidate", M.validate, "Run this kernel as its check spec says")
  define("UpskilldCheckSpec", M.check_spec, "Open this kernel's check spec, or begin one")
  define("UpskilldRestart", M.restart, "Start upskilld again")
end

return M
