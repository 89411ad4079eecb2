// Makes a server that wants a fixed port listen on a free one, on loopback only, and say which:
//
//     node --require target/partners/listen.cjs SERVER ...
//
// writes `listening on 127.0.0.1:PORT` to standard error. Some servers have their port in the code,
// most listen on all interfaces, and none tells the port it got for port 0.
'use strict';

const net = require('node:net');

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...options) {
    const callback = options.find((option) => typeof option === 'function');
    this.once('listening', () => {
        process.stderr.write(`listening on 127.0.0.1:${this.address().port}\n`);
    });
    return listen.call(this, { host: '127.0.0.1', port: 0 }, callback);
};
