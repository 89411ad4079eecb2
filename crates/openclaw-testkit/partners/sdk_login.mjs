// The TypeScript SDK's demo of OAuth, on free ports of loopback.
//
//     node sdk_login.mjs DIRECTORY-OF-THE-EXAMPLES LIFETIME-OF-TOKENS-IN-SECONDS
//
// The first line of the output is JSON and says where everything is. It ends with its input.
import net from 'node:net';
import { pathToFileURL } from 'node:url';

const [directory, lifetime] = process.argv.slice(2);
const example = (name) => import(pathToFileURL(`${directory}/${name}.js`));

/** A socket that listens on a free port, so that nobody else can take the port meanwhile. */
const reserve = () =>
    new Promise((resolve, reject) => {
        const server = net.createServer();
        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => resolve(server));
    });

// The demo has its ports in the environment and in what it says about itself.
const reserved = new Map();
for (const name of ['MCP_PORT', 'MCP_AUTH_PORT']) {
    const server = await reserve();
    process.env[name] = String(server.address().port);
    reserved.set(process.env[name], server);
}
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
    const callback = rest.find((option) => typeof option === 'function');
    return listen.call(this, reserved.get(String(port)), callback);
};

// An hour is in its code.
const { DemoInMemoryAuthProvider } = await example('demoInMemoryOAuthProvider');
const exchange = DemoInMemoryAuthProvider.prototype.exchangeAuthorizationCode;
DemoInMemoryAuthProvider.prototype.exchangeAuthorizationCode = async function (...request) {
    const given = await exchange.apply(this, request);
    given.expires_in = Number(lifetime);
    this.tokens.get(given.access_token).expiresAt = Date.now() + given.expires_in * 1000;
    return given;
};

// What it tells about itself, tokens included, is not for the output.
console.log = () => {};
process.argv.push('--oauth', '--oauth-strict');
process.stdin.resume().once('end', () => process.exit());
await example('simpleStreamableHttp');
const url = `http://localhost:${process.env.MCP_PORT}/mcp`;
process.stdout.write(`${JSON.stringify({ url })}\n`);
