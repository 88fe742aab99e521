//! upskilld in Zed: the same program as a language server and as a context server (MCP).
use zed_extension_api::{
    self as zed, serde_json::Value, settings::CommandSettings, settings::ContextServerSettings, settings::LspSettings,
    Command, ContextServerId, LanguageServerId, Project, Result, Worktree,
};

const NAME: &str = "upskilld";
const HOW_TO_GET_IT: &str = "upskilld is not on PATH: uv tool install upskilld-*.whl puts it there; or set \
                             lsp.upskilld.binary.path in Zed's settings";

struct Upskilld;

/// What the settings say of the program, and where it lies when they say nothing.
fn command(set: Option<CommandSettings>, found: impl FnOnce() -> Option<String>) -> Result<Command> {
    let set = set.unwrap_or(CommandSettings { path: None, arguments: None, env: None });
    Ok(Command {
        command: set.path.or_else(found).ok_or(HOW_TO_GET_IT)?,
        args: set.arguments.unwrap_or_default(),
        env: set.env.unwrap_or_default().into_iter().collect(),
    })
}

impl zed::Extension for Upskilld {
    fn new() -> Self {
        Upskilld
    }

    fn language_server_command(&mut self, _server: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let mut started = command(LspSettings::for_worktree(NAME, worktree)?.binary, || worktree.which(NAME))?;
        if started.env.is_empty() {
            started.env = worktree.shell_env();
        }
        Ok(started)
    }

    /// The flags of `lsp.upskilld.initialization_options`, and `with_clangd`.
    fn language_server_initialization_options(
        &mut self,
        _server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(NAME, worktree)?.initialization_options)
    }

    /// A context server belongs to no worktree, so Zed can look for the program only on its own PATH.
    fn context_server_command(&mut self, _server: &ContextServerId, project: &Project) -> Result<Command> {
        command(ContextServerSettings::for_project(NAME, project)?.command, || Some(NAME.to_string()))
    }
}

zed::register_extension!(Upskilld);
