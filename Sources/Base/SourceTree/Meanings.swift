/// Words from other tools and from everyday English, with the words that this program uses for
/// them.
enum Meanings {
    /// Each word with its possible meanings; the place of the word decides which of them are valid.
    private static let table: [String: [String]] = [
        // Actions.
        "flash": ["update"], "upgrade": ["update"], "install": ["update"], "ota": ["update"],
        "dfu": ["update"], "fota": ["update"], "firmware": ["update", "images"],
        "upload": ["update"], "deploy": ["update"],
        "write": ["set"], "ensure": ["set"], "put": ["set"], "apply": ["set"],
        "property": ["set", "read"], "properties": ["set", "read"], "configure": ["set"],
        "get": ["read"], "collect": ["read"], "query": ["read"], "report": ["read"],
        "check": ["require", "expect"], "precondition": ["require"], "if": ["require"],
        "when": ["require"], "needs": ["require"], "only-if": ["require"], "must": ["require"],
        "verify": ["expect", "healthy"], "assert": ["expect"], "test": ["expect"],
        "until": ["expect", "within"], "sleep": ["wait"], "pause": ["wait", "soak", "ask"],
        "delay": ["wait", "soak"], "cmd": ["command"], "commands": ["command"],
        "run": ["command"], "exec": ["command"], "macro": ["use"], "include": ["use"],
        "call": ["use"], "features": ["feature"], "else": ["otherwise"], "on-fail": ["otherwise"],
        "timeout": ["within", "deadline"],
        // Commands.
        "unlock": ["unlock-driver", "unlock-all", "command"],
        "open": ["unlock-driver", "unlock-all", "open-trunk", "command"],
        "close": ["lock", "close-trunk", "command"], "trunk": ["open-trunk", "close-trunk"],
        "find": ["locate", "command"], "honk": ["locate", "command"],
        "immobilize": ["ignition-inhibit", "command"],
        "immobilise": ["ignition-inhibit", "command"],
        "mobilize": ["ignition-enable", "command"], "mobilise": ["ignition-enable", "command"],
        "start": ["ignition-enable", "from"],
        // Other keys of a manifest.
        "fleet": ["vehicles"], "inventory": ["vehicles"], "cars": ["vehicles"],
        "bikes": ["vehicles"], "hosts": ["vehicles"], "targets": ["vehicles"],
        "devices": ["vehicles"], "modules": ["vehicles"], "releases": ["images"],
        "release": ["images"], "artifacts": ["images"], "binaries": ["images"],
        "tasks": ["steps"], "actions": ["steps"], "jobs": ["steps"], "finally": ["always"],
        "cleanup": ["always"], "after": ["always"], "file": ["from", "url"], "csv": ["from"],
        "path": ["from", "url"], "where": ["select"], "filter": ["select"], "only": ["select"],
        "uri": ["url"], "link": ["url"], "href": ["url"], "source": ["url"],
        "hash": ["sha256"], "digest": ["sha256"], "checksum": ["sha256"], "sha": ["sha256"],
        "md5": ["sha256"], "for-family": ["fits"], "compatible": ["fits"],
        "canary": ["waves"], "batches": ["waves"], "stages": ["waves"], "phases": ["waves"],
        "serial-batches": ["waves"], "gates": ["pause-when", "go-on-when"],
        "gate": ["pause-when", "go-on-when"], "max-failed": ["pause-when"],
        "threshold": ["pause-when"], "abort-when": ["pause-when"], "retries": ["retry"],
        "schedule": ["window"], "hours": ["window"], "maintenance": ["window"],
        "timezone": ["zone"], "tz": ["zone"], "time-zone": ["zone"], "duration": ["for"],
        "openings": ["open"], "except": ["not"], "freeze": ["not"], "freezes": ["not"],
        "closed": ["not"], "holidays": ["not"], "length": ["for"], "lasts": ["for"],
        "opens": ["from"], "begin": ["from"],
        "begins": ["from"], "end": ["for"], "to": ["for"], "bluetooth": ["radio"],
        "controllers": ["adapters"], "adapter": ["adapters"], "parallel": ["links-per-adapter"],
        "image": ["to", "update", "images"], "version": ["to"], "target": ["to", "part"],
        "key": ["secret"], "password": ["secret"], "name": ["id"], "vehicle": ["id"],
        "type": ["family"], "model": ["profile"], "pin": ["passkey"],
        "battery": ["state_of_charge"], "soc": ["state_of_charge"],
        "battery-level": ["state_of_charge"], "charge": ["state_of_charge"],
        "rssi": ["signal"], "light": ["lights"],
        "ignore": ["skip", "warn"], "stop": ["fail", "safe-point"], "retry-later": ["defer"],
        "later": ["defer"], "always": ["each-run"], "never": ["when-asked"],
    ]

    /// Words without an equivalent, because another step does the same.
    private static let notes: [String: (needs: String, words: String)] = [
        "reboot": ("update", "a module is restarted by its `update` alone; there is no such step"),
        "restart": ("update", "a module is restarted by its `update` alone; there is no such step"),
        "reset": ("update", "a module is restarted by its `update` alone; there is no such step"),
        "rollback": ("update", "`update` to the older image with `downgrade: allow`"),
        "downgrade": ("update", "`update: {to: IMAGE, downgrade: allow}`"),
        "settle": ("update", "an `update` settles by itself; `settle` stands beside `steps`"),
        "lock": ("command", "did you mean `command: lock`?"),
        "unlock": ("command", "write `command: unlock-driver` or `command: unlock-all`"),
        "locate": ("command", "did you mean `command: locate`?"),
    ]

    /// A hint that names the words to use instead, if any of them is valid at this place.
    static func hint(for word: String, among known: [String]) -> String? {
        if let note = note(on: word), known.contains(note.needs) { return note.words }
        let words = words(for: word, among: known)
        guard let last = words.last else { return nil }
        let list = words.dropLast().map { "`\($0)`" }.joined(separator: ", ")
        return "did you mean " + (list.isEmpty ? "" : list + " or ") + "`\(last)`?"
    }

    /// The elements of `known` that the word may mean.
    static func words(for word: String, among known: [String]) -> [String] {
        if let note = note(on: word), known.contains(note.needs) { return [note.needs] }
        let word = plain(word)
        let meant = (table[word] ?? []).filter(known.contains)
        guard meant.isEmpty, word.utf8.count >= 3 else { return meant }
        // An incomplete word, such as `unlock` for `unlock-all`.
        let longer = known.filter { $0.hasPrefix(word + "-") || $0.hasPrefix(word + "_") }
        return longer.count <= 4 ? longer : []
    }

    private static func note(on word: String) -> (needs: String, words: String)? {
        notes[plain(word)]
    }

    private static func plain(_ word: String) -> String {
        String(word.lowercased().map { $0 == "_" ? "-" : $0 })
    }

}
