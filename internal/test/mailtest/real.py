"""A mail server for tests: aiosmtpd, which prints its port, and then each mail that it takes as a line of JSON."""
import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

mode, cert, key = sys.argv[1:]


class Handler:
    async def handle_DATA(self, server, session, envelope):
        m = email.message_from_bytes(envelope.content, policy=email.policy.default)
        text, html = m.get_body(("plain",)), m.get_body(("html",))
        plain = lambda part: part.get_content().replace("\r\n", "\n") if part else ""
        print(json.dumps({
            "from": envelope.mail_from, "to": envelope.rcpt_tos,
            "user": session.auth_data.login.decode() if session.auth_data else "",
            "tls": session.ssl is not None or mode == "tls",
            "headers": [[k, str(v)] for k, v in m.items()],
            "text": plain(text), "html": plain(html),
        }), flush=True)
        return "250 taken"


def check(server, session, envelope, mechanism, data):
    right = isinstance(data, LoginPassword) and data.login == b"arbor" and data.password == b"secret"
    return AuthResult(success=right, auth_data=data, handled=right)


def make():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    options = {"authenticator": check, "auth_required": True}
    if mode == "starttls":
        options.update(tls_context=context, require_starttls=True)
    elif mode == "tls":
        options.update(auth_require_tls=False)  # it does not see the TLS around it
    else:
        options = {}
    return SMTP(Handler(), enable_SMTPUTF8=True, **options)


async def main():
    context = None
    if mode == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(make, "localhost", 0, ssl=context, family=2)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
