import Base

/// Reads the rules for a whole run.
struct PolicyReader {
    let diagnostics: Diagnostics

    /// A reader for a section, or for an empty map, so that its defaults apply.
    private func section(_ node: SourceNode?, _ table: Table, at place: Place) -> TableReader {
        TableReader(node ?? SourceNode(.map([]), at: place), table, diagnostics)
    }

    func rollout(_ node: SourceNode?, at place: Place) -> RolloutPolicy {
        var reader = section(node, Grammar.rollout, at: place)
        let waves = reader.list("waves", of: "wave sizes").map { items in
            readWaves(items, at: reader.place(of: "waves"))
        }
        let pause = reader.reader("pause-when").flatMap(readPause)
        let window = reader.reader("window").flatMap(readWindow)
        let retry = readRetry(reader.value("retry"), at: place)
        let tolerance = readTolerance(reader.value("tolerate"), at: place)
        var policy = RolloutPolicy(
            waves: waves ?? [.rest],
            pause: pause,
            window: window,
            retry: retry,
            tolerance: tolerance
        )
        policy.spread = readTexts(reader.list("spread", of: "labels"), .label).map(Label.name)
        policy.between = readBetween(reader.value("between-waves"), at: place)
        policy.advance = reader.reader("go-on-when").map(readAdvance)
        policy.airtime = reader.reader("airtime").map(readAirtime) ?? AirtimeBudget()
        policy.quarantineAfter = reader.integer("quarantine-after")
        policy.overlap = reader.defaultedWord("overlap", Overlap.self)
        policy.again = reader.defaultedWord("again", Again.self)
        reader.finish()
        return policy
    }

    private func readTexts(_ items: [SourceNode]?, _ form: Form) -> [String] {
        (items ?? []).compactMap { form.read($0, diagnostics) }
    }

    private func readBetween(_ node: SourceNode?, at place: Place) -> BetweenWaves {
        var reader = section(node, Grammar.between, at: place)
        var between = BetweenWaves()
        between.soak = reader.defaultedDuration("soak")
        between.check = readTexts(reader.list("check", of: "a program and its arguments"), .word)
        between.timeout = reader.defaultedDuration("timeout")
        between.asks = reader.boolean("ask")
        reader.finish()
        return between
    }

    private func readAdvance(_ reader: TableReader) -> AdvanceRule {
        var reader = reader
        let succeeded = reader.value("succeeded")?.percent(diagnostics)
        let covered = reader.value("covered")?.percent(diagnostics)
        if succeeded == nil, covered == nil, !diagnostics.hasErrors {
            diagnostics.error(
                reader.place,
                "there is no condition for the next wave",
                hint: "write `succeeded: 90%`, `covered: 80%` or both"
            )
        }
        reader.finish()
        return AdvanceRule(succeeded: succeeded, covered: covered)
    }

    private func readAirtime(_ reader: TableReader) -> AirtimeBudget {
        var reader = reader
        var budget = AirtimeBudget()
        budget.vehicle = reader.duration("vehicle")
        budget.total = reader.duration("total")
        reader.finish()
        return budget
    }

    private func readWaves(_ items: [SourceNode], at place: Place) -> [Wave] {
        if items.isEmpty {
            diagnostics.error(place, "the list of waves is empty", hint: "write `[3, 10%, rest]`")
        }
        var waves: [Wave] = []
        for item in items {
            if waves.last == .rest {
                diagnostics.error(
                    item.place,
                    "a wave after `rest` has no vehicles left",
                    hint: "put `rest` last"
                )
            }
            if let wave = wave(item) { waves.append(wave) }
        }
        return waves
    }

    private func wave(_ node: SourceNode) -> Wave? {
        let hint = "write a number, a share such as 10%, or `rest`"
        guard case .scalar(let text, _) = node.value, !node.isNothing else {
            diagnostics.error(node.place, "expected a wave, found \(node.kind)", hint: hint)
            return nil
        }
        if text == "rest" { return .rest }
        if text.utf8.contains(0x25) {
            guard let percent = node.percent(diagnostics) else { return nil }
            guard percent.hundredths > 0 else {
                diagnostics.error(node.place, "a wave of 0% has no vehicles", hint: hint)
                return nil
            }
            return .percent(percent)
        }
        guard PlainNumber.integer(text) != nil else {
            diagnostics.error(node.place, "\(quoted(text)) is not a wave", hint: hint)
            return nil
        }
        return node.integer(in: 1...1_000_000, diagnostics).map(Wave.count)
    }

    private func readPause(_ reader: TableReader) -> PauseRule? {
        var reader = reader
        let failed = reader.amount("failed")
        let atLeast = reader.defaultedInteger("at-least")
        let classes = (reader.list("classes", of: "failure classes") ?? []).compactMap {
            $0.choice(FailureClass.self, diagnostics)
        }
        let action = reader.defaultedWord("then", PauseRule.Action.self)
        reader.finish()
        return failed.map {
            PauseRule(failed: $0, atLeast: atLeast, classes: classes, action: action)
        }
    }

    private func readWindow(_ reader: TableReader) -> Window? {
        var reader = reader
        let from = reader.text("from").flatMap { TimeOfDay($0) }
        let length = reader.duration("for")
        let open = reader.value("open").map(openings)
        let freezes = reader.value("not").map { oneOrMore($0, .days, DayRule.list) } ?? []
        let label = reader.text("by").map { Label.name($0) }
        var own: [String: [Opening]] = [:]
        for entry in reader.value("own")?.entries(diagnostics, of: "a map of values to openings")
            ?? []
        where !entry.key.hasPrefix("x-") {
            own[entry.key] = openings(entry.value)
        }
        let zone = reader.defaultedText("zone")
        let close = reader.defaultedWord("at-close", Window.Close.self)
        reader.finish()
        let ways = Grammar.window.exactlyOne.filter(reader.has)
        // One that is missing because it is misspelled is one mistake.
        let isBare =
            ways.isEmpty && !reader.has("for")
            && reader.keys.allSatisfy { Grammar.window.keys.contains($0.key) }
        if ways.count > 1 || isBare, case .map = reader.node.value {
            diagnostics.error(
                isBare ? reader.place : reader.place(of: "open"),
                isBare ? "`window` says no time" : "`open` beside `from`",
                hint: "write `open: 22:00-05:00`, or `from: \"22:00\"` and `for: 7h`"
            )
        }
        // With an error in one of them there is no plan, but the zone is still checked.
        return Window(
            open ?? [Opening(from: from ?? .midnight, .after(length ?? .zero))],
            not: freezes.flatMap { $0 },
            own: label.map { Window.Own(label: $0, openings: own) },
            zone: zone,
            close: close
        )
    }

    private func openings(_ node: SourceNode) -> [Opening] {
        oneOrMore(node, .opening) { text throws(CalendarFault) in try Opening(text) }
    }

    /// The value of one text, or of each in a list.
    private func oneOrMore<Value>(
        _ node: SourceNode,
        _ form: Form,
        _ value: (String) throws(CalendarFault) -> Value
    ) -> [Value] {
        var items = [node]
        if case .list(let list) = node.value { items = list }
        if items.isEmpty {
            diagnostics.error(node.place, "the list is empty", hint: form.hint)
        }
        return readTexts(items, form).compactMap { try? value($0.lowercased()) }
    }

    private func readRetry(_ node: SourceNode?, at place: Place) -> RetryPolicy {
        var reader = section(node, Grammar.retry, at: place)
        var policy = RetryPolicy(
            transient: reader.defaultedInteger("transient"),
            device: reader.defaultedInteger("device")
        )
        policy.pause = reader.defaultedDuration("pause")
        policy.longestPause = reader.defaultedDuration("longest-pause")
        policy.budget = reader.integer("budget")
        policy.fruitless = reader.defaultedInteger("without-progress")
        reader.finish()
        if policy.pause > policy.longestPause {
            diagnostics.error(
                reader.has("pause") ? reader.place(of: "pause") : reader.place,
                "the first pause of \(policy.pause.brief) is longer than the longest, "
                    + policy.longestPause.brief,
                hint: "make `longest-pause` longer"
            )
        }
        return policy
    }

    private func readTolerance(_ node: SourceNode?, at place: Place) -> Tolerance {
        var reader = section(node, Grammar.tolerate, at: place)
        let tolerance = Tolerance(
            unreachable: reader.defaultedAmount("unreachable"),
            deferred: reader.defaultedAmount("deferred")
        )
        reader.finish()
        return tolerance
    }

    func radio(_ node: SourceNode?, at place: Place) -> RadioSettings {
        var reader = section(node, Grammar.radio, at: place)
        var adapters: [String] = []
        let items = reader.list("adapters", of: "adapters")
        if let items, items.isEmpty {
            diagnostics.error(
                reader.place(of: "adapters"),
                "the list of adapters is empty",
                hint: "leave `adapters` out to use all that are there"
            )
        }
        for item in items ?? [] {
            guard let name = Form.adapter.read(item, diagnostics) else { continue }
            if adapters.contains(name) {
                diagnostics.error(item.place, "`\(name)` occurs twice", hint: "remove one")
            } else {
                adapters.append(name)
            }
        }
        let links = reader.defaultedInteger("links-per-adapter")
        let takesTurns = reader.boolean("take-turns")
        reader.finish()
        return RadioSettings(
            adapters: adapters,
            linksPerAdapter: links,
            takesTurns: takesTurns
        )
    }

    func settle(_ node: SourceNode?, at place: Place) -> SettleSettings {
        var reader = section(node, Grammar.settle, at: place)
        let quiet = reader.defaultedDuration("quiet")
        let gap = reader.defaultedDuration("confirm-gap")
        let deadline = reader.defaultedDuration("deadline")
        reader.finish()
        if quiet + gap >= deadline {
            let key = ["deadline", "quiet", "confirm-gap"].first(where: reader.has) ?? "deadline"
            diagnostics.error(
                reader.place(of: key),
                "`settle` can never end well: \(quiet.brief) quiet and \(gap.brief) between two "
                    + "readings do not fit before the deadline of \(deadline.brief)",
                hint: "make `deadline` longer than `quiet` and `confirm-gap` together"
            )
        }
        return SettleSettings(quiet: quiet, confirmGap: gap, deadline: deadline)
    }

    func connect(_ node: SourceNode?, at place: Place) -> ConnectSettings {
        var reader = section(node, Grammar.connect, at: place)
        let timeout = reader.defaultedDuration("timeout")
        let attempts = reader.defaultedInteger("attempts")
        reader.finish()
        return ConnectSettings(timeout: timeout, attempts: attempts)
    }
}
