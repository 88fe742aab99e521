/* Where each agent looks for skills, as its makers document it or as the installers that
 * people use have it. Six of these rows changed within half a year, so every one can be
 * replaced from agents.yaml.
 *
 * Where sources disagree:
 * - codex: its newest pages name ~/.agents/skills for the user, every released version
 *   reads $CODEX_HOME/skills; the latter is written, the former listed under reads.
 * - cursor, cline, kilo, droid and antigravity moved their project folder to
 *   .agents/skills; versions before that read only the folder listed under reads.
 * - cline and kilo also moved their user folder; the old one stands under reads.
 * - droid reads ~/.agents/skills too, where a skill would then be defined twice; its own
 *   folder is the one written.
 * - goose lets the later of its folders win, so its own is written.
 * - trae-cn and qoder-cn share the project folder of their siblings, zenflow has all of
 *   zencoder's.
 * - pi, hermes and others with a home of their own below another one are detected by the
 *   former. */
#include "skills/install/agents_table.h"

#include "base/mem.h"

#define SHARED ".agents/skills"
#define SHARED_USER "~/.agents/skills"
#define CONFIG "${XDG_CONFIG_HOME:-~/.config}"

/* An agent with its own folder of the same name in the project and at home. */
#define OWN(name, title, folder)                                                         \
    { name, title, folder "/skills", "~/" folder "/skills", "~/" folder, NULL }

const struct agent_row agents_table[] = {
    {"claude-code", "Claude Code", ".claude/skills",
     "${CLAUDE_CONFIG_DIR:-~/.claude}/skills", "${CLAUDE_CONFIG_DIR:-~/.claude}", NULL},
    {"codex", "Codex", SHARED, "${CODEX_HOME:-~/.codex}/skills",
     "${CODEX_HOME:-~/.codex}|/etc/codex", SHARED_USER " /etc/codex/skills"},
    {"cursor", "Cursor", SHARED, "~/.cursor/skills", "~/.cursor", ".cursor/skills"},
    {"opencode", "OpenCode", SHARED, CONFIG "/opencode/skills", CONFIG "/opencode",
     ".opencode/skills .claude/skills ~/.claude/skills " SHARED_USER},
    {"gemini-cli", "Gemini CLI", SHARED, "~/.gemini/skills", "~/.gemini",
     ".gemini/skills " SHARED_USER},
    {"github-copilot", "GitHub Copilot and VS Code", SHARED, "~/.copilot/skills",
     "~/.copilot", ".github/skills .claude/skills " SHARED_USER},
    {"goose", "Goose", ".goose/skills", CONFIG "/goose/skills", CONFIG "/goose",
     SHARED " " CONFIG "/agents/skills .claude/skills"},
    {"amp", "Amp", SHARED, CONFIG "/agents/skills", CONFIG "/amp", NULL},
    {"replit", "Replit", SHARED, CONFIG "/agents/skills", NULL, NULL},
    {"universal", "Any agent that reads .agents/skills", SHARED, CONFIG "/agents/skills",
     NULL, NULL},
    {"windsurf", "Windsurf", ".windsurf/skills", "~/.codeium/windsurf/skills",
     "~/.codeium/windsurf", NULL},
    {"cline", "Cline", SHARED, SHARED_USER, "~/.cline", ".cline/skills ~/.cline/skills"},
    OWN("roo", "Roo Code", ".roo"),
    {"kilo", "Kilo Code", SHARED, "~/.kilo/skills", "~/.kilo|~/.kilocode",
     ".kilocode/skills ~/.kilocode/skills"},
    OWN("kiro-cli", "Kiro CLI", ".kiro"),
    {"zed", "Zed", SHARED, SHARED_USER,
     CONFIG "/zed|${FLATPAK_XDG_CONFIG_HOME:-~/.config}/zed", NULL},
    {"warp", "Warp", SHARED, SHARED_USER, "~/.warp", NULL},
    {"dexto", "Dexto", SHARED, SHARED_USER, "~/.dexto", NULL},
    {"kimi-code-cli", "Kimi Code CLI", SHARED, SHARED_USER, "~/.kimi-code|~/.kimi", NULL},
    {"loaf", "Loaf", SHARED, SHARED_USER, "~/.loaf", NULL},
    {"droid", "Factory Droid", SHARED, "~/.factory/skills", "~/.factory",
     ".factory/skills " SHARED_USER},
    {"antigravity", "Antigravity", SHARED, "~/.gemini/antigravity/skills",
     "~/.gemini/antigravity", ".agent/skills"},
    {"antigravity-cli", "Antigravity CLI", SHARED, "~/.gemini/antigravity-cli/skills",
     "~/.gemini/antigravity-cli", NULL},
    OWN("continue", "Continue", ".continue"),
    {"crush", "Crush", ".crush/skills", "~/.config/crush/skills", "~/.config/crush",
     NULL},
    OWN("junie", "Junie", ".junie"),
    OWN("qwen-code", "Qwen Code", ".qwen"),
    OWN("trae", "Trae", ".trae"),
    {"trae-cn", "Trae CN", ".trae/skills", "~/.trae-cn/skills", "~/.trae-cn", NULL},
    OWN("augment", "Augment", ".augment"),
    OWN("openhands", "OpenHands", ".openhands"),
    {"pi", "Pi", ".pi/skills", "~/.pi/agent/skills", "~/.pi/agent", NULL},
    OWN("qoder", "Qoder", ".qoder"),
    {"qoder-cn", "Qoder CN", ".qoder/skills", "~/.qoder-cn/skills", "~/.qoder-cn", NULL},
    OWN("mux", "Mux", ".mux"),
    {"mistral-vibe", "Mistral Vibe", ".vibe/skills", "${VIBE_HOME:-~/.vibe}/skills",
     "${VIBE_HOME:-~/.vibe}", NULL},
    OWN("kode", "Kode", ".kode"),
    {"openclaw", "OpenClaw", "skills",
     "~/.openclaw/skills|~/.clawdbot/skills|~/.moltbot/skills",
     "~/.openclaw|~/.clawdbot|~/.moltbot", NULL},
    {"hermes-agent", "Hermes Agent", ".hermes/skills", "${HERMES_HOME:-~/.hermes}/skills",
     "${HERMES_HOME:-~/.hermes}", NULL},
    {"grok", "Grok Build", ".grok/skills", "${GROK_HOME:-~/.grok}/skills",
     "${GROK_HOME:-~/.grok}", NULL},
    {"devin", "Devin for Terminal", ".devin/skills", CONFIG "/devin/skills",
     CONFIG "/devin", NULL},
    {"tabnine-cli", "Tabnine CLI", ".tabnine/agent/skills", "~/.tabnine/agent/skills",
     "~/.tabnine", NULL},
    OWN("rovodev", "Rovo Dev", ".rovodev"),
    OWN("bob", "IBM Bob", ".bob"),
    OWN("aider-desk", "AiderDesk", ".aider-desk"),
    {"astrbot", "AstrBot", "data/skills", "~/.astrbot/data/skills", "~/.astrbot", NULL},
    {"autohand-code", "Autohand Code CLI", ".autohand/skills",
     "${AUTOHAND_HOME:-~/.autohand}/skills", "${AUTOHAND_HOME:-~/.autohand}", NULL},
    OWN("codearts-agent", "CodeArts Agent", ".codeartsdoer"),
    OWN("codebuddy", "CodeBuddy", ".codebuddy"),
    OWN("codemaker", "Codemaker", ".codemaker"),
    OWN("codestudio", "Code Studio", ".codestudio"),
    {"codewhale", "CodeWhale", ".codewhale/skills",
     "${CODEWHALE_HOME:-~/.codewhale}/skills", "${CODEWHALE_HOME:-~/.codewhale}", NULL},
    OWN("command-code", "Command Code", ".commandcode"),
    {"cortex", "Cortex Code", ".cortex/skills", "~/.snowflake/cortex/skills",
     "~/.snowflake/cortex", NULL},
    {"deepagents", "Deep Agents", SHARED, "~/.deepagents/agent/skills", "~/.deepagents",
     NULL},
    {"eve", "Eve", "agent/skills", NULL, NULL, NULL},
    {"firebender", "Firebender", SHARED, "~/.firebender/skills", "~/.firebender", NULL},
    OWN("forgecode", "ForgeCode", ".forge"),
    OWN("fx", "fx", ".fx"),
    OWN("inference-sh", "inference.sh", ".inferencesh"),
    OWN("jazz", "Jazz", ".jazz"),
    OWN("iflow-cli", "iFlow CLI", ".iflow"),
    {"kimchi", "Kimchi", ".kimchi/skills", "~/.config/kimchi/harness/skills",
     "~/.config/kimchi", NULL},
    OWN("lingma", "Lingma", ".lingma"),
    OWN("mcpjam", "MCPJam", ".mcpjam"),
    OWN("minimax-code", "MiniMax Code", ".minimax"),
    OWN("moxby", "Moxby", ".moxby"),
    OWN("ona", "Ona", ".ona"),
    {"posit-assistant", "Posit Assistant", ".posit/assistant/skills",
     "~/.posit/assistant/skills", "~/.posit/assistant|~/.positai", NULL},
    OWN("reasonix", "Reasonix", ".reasonix"),
    {"sarvam-code", "Sarvam Code", SHARED, SHARED_USER, "${SARVAM_HOME:-~/.sarvam}",
     NULL},
    OWN("terramind", "Terramind", ".terramind"),
    OWN("tinycloud", "Tinycloud", ".tinycloud"),
    OWN("zcode", "ZCode", ".zcode"),
    OWN("zencoder", "Zencoder", ".zencoder"),
    {"zenflow", "Zenflow", ".zencoder/skills", "~/.zencoder/skills", "~/.zencoder", NULL},
    OWN("neovate", "Neovate", ".neovate"),
    OWN("pochi", "Pochi", ".pochi"),
    {"promptscript", "PromptScript", SHARED, NULL, NULL, NULL},
    OWN("adal", "AdaL", ".adal"),
};
const size_t agents_table_count = ARRAY_LEN(agents_table);
