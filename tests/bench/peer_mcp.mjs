// The smallest MCP server on the official SDK: the peer for start, memory and latency.
import { createRequire } from 'node:module';
const require = createRequire(new URL('../clients/package.json', import.meta.url));
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');

const server = new McpServer({ name: 'peer', version: '1.0.0' });
server.registerTool('echo', { description: 'Answers ok.' }, async () => ({ content: [{ type: 'text', text: 'ok' }] }));
await server.connect(new StdioServerTransport());
