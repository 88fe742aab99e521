-- A project of 30 files (cmake_project) in Neovim with clients/neovim: no false error, and how long the first findings
-- take. The times are printed, not judged.
--
--     UPSKILLD=/path/to/upskilld PROJECT=FOLDER nvim --headless -u NONE -S neovim_project.lua
local here = vim.fn.fnamemodify(vim.fn.resolve(vim.fn.expand("<sfile>:p")), ":h")
vim.opt.runtimepath:prepend(here .. "/../../clients/neovim")
vim.cmd("filetype on")
vim.o.hidden, vim.o.swapfile = true, false

local told, wrong = {}, {} -- uri -> when its diagnostics came first; errors
local clangd = require("upskilld.clangd")
local publish = clangd.publish
clangd.publish = function(problem, params, context)
  told[params.uri] = told[params.uri] or vim.loop.hrtime()
  for _, one in ipairs(params.diagnostics) do
    if one.severity == 1 then
      table.insert(wrong, params.uri .. ": " .. one.message)
    end
  end
  return publish(problem, params, context)
end

local function open(file)
  local before, uri = vim.loop.hrtime(), vim.uri_from_fname(file)
  vim.cmd("edit " .. file)
  vim.wait(60000, function()
    return told[uri]
  end, 2)
  return told[uri] and (told[uri] - before) / 1e6 or math.huge
end

require("upskilld").setup({ cmd = { os.getenv("UPSKILLD") } })
vim.cmd("runtime plugin/upskilld.lua")
local files = vim.fn.glob(os.getenv("PROJECT") .. "/src/*.cu", 0, 1)
local first, warm = open(files[1]), {}
for i = 2, #files do
  table.insert(warm, open(files[i]))
end
table.sort(warm)
local good = #files == 30 and warm[#warm] < math.huge and #wrong == 0
io.stderr:write(("neovim project: %d files, %d errors; first findings %.0f ms, then median %.0f ms, worst %.0f ms\n"):format(
  #files, #wrong, first, warm[math.ceil(#warm / 2)], warm[#warm]))
io.stderr:write(table.concat(wrong, "\n"))
vim.cmd(good and "qall!" or "cquit 1")
