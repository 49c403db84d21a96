"""Proxies between gateways and the server: they delay, drop and cut what goes through."""
import asyncio
import threading


def asked(data, named):
    """What is carried out of these bytes of a session: a statement that it has named is sent by its name."""
    texts, at = [], 0
    while at + 5 <= len(data):
        kind, length = data[at:at + 1], int.from_bytes(data[at + 1:at + 5], "big")
        if length < 4:
            break
        parts = data[at + 5:at + 1 + length].split(b"\0")
        at += 1 + length
        if kind == b"P" and len(parts) > 1 and parts[0]:
            named[parts[0]] = parts[1]
        elif kind == b"B" and len(parts) > 1 and parts[1] in named:
            texts.append(named[parts[1]])
        else:
            texts.append(b"\0".join(parts))
    # What came in pieces is taken as it is.
    return b"\n".join(texts if at == len(data) else [*texts, data])


class Proxy:
    """One port before another one. All proxies of a life share one thread."""

    loop = None

    def __init__(self, target, rate, count):
        self.target, self.rate, self.count = target, rate, count
        self.mode, self.delay, self.cuts, self.open = "open", 0, [], set()
        if Proxy.loop is None:
            Proxy.loop = asyncio.new_event_loop()
            threading.Thread(target=Proxy.loop.run_forever, daemon=True).start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self.joined, "127.0.0.1", 0), Proxy.loop).result()
        self.port = server.sockets[0].getsockname()[1]

    def set(self, mode, delay=0):
        """Modes: `open`, `slow`, `hole` (nothing arrives any more), `refuse` (sessions end)."""
        def act():
            self.mode, self.delay = mode, delay
            if mode == "refuse":
                for end in list(self.open):
                    end.transport.abort()
        Proxy.loop.call_soon_threadsafe(act)

    def cut(self, words, when):
        """Cuts the next session that sends these words: `before` they arrive, or `after` they were carried out."""
        Proxy.loop.call_soon_threadsafe(self.cuts.append, (words, when))

    async def joined(self, reader, writer):
        if self.mode == "refuse":
            self.count("sessions refused")
            return writer.transport.abort()
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return writer.transport.abort()
        ends = {writer, back}
        self.open |= ends
        session = {"swallows": None, "named": {}}
        try:
            tasks = [asyncio.ensure_future(self.pump(reader, back, session, True)),
                     asyncio.ensure_future(self.pump(there, writer, session, False))]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        finally:
            self.open -= ends
            for end in ends:
                end.transport.abort()

    async def pump(self, reader, writer, session, asks):
        seen = b""
        while data := await reader.read(65536):
            if self.mode == "hole":
                self.count("packets held back")
                while self.mode == "hole":
                    await asyncio.sleep(0.02)
            if self.mode == "slow":
                self.count("packets delayed")
                await asyncio.sleep(self.delay / self.rate)
            if asks:
                said = asked(data, session["named"])
                for words, when in self.cuts:
                    if words.encode() in said:
                        self.cuts.remove((words, when))
                        if when == "before":
                            self.count(f"cut before {words}")
                            return
                        session["swallows"] = words
                        break
            elif session["swallows"]:
                # The server is ready for the next request, so this one is committed.
                seen = (seen + data)[-64:]
                if b"Z\0\0\0\5" in seen:
                    self.count(f"cut after {session['swallows']} was carried out")
                    return
                continue
            writer.write(data)
            await writer.drain()
