-- Runs once at start: the commands, and the server for the files that it knows.
if vim.g.loaded_upskilld or vim.fn.has("nvim-0.7") == 0 then
  return
end
vim.g.loaded_upskilld = true
require("upskilld.commands").define()
require("upskilld").enable()
