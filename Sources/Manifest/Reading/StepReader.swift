import Base
import Families

/// Reads steps and checks the images they name.
struct StepReader {
    /// The place of a list of steps, which decides what it may contain.
    enum Role {
        case steps
        /// The steps at the end of each vehicle, which must not decide about the vehicle again.
        case always
        /// The steps of a macro, which must not use other macros, so that there are no cycles.
        case macro
    }

    let diagnostics: Diagnostics
    /// The names under `images`, including images with errors.
    let images: Set<String>
    /// The macros, by name.
    private(set) var macros: [String: [Step]] = [:]

    init(diagnostics: Diagnostics, images: Set<String>) {
        self.diagnostics = diagnostics
        self.images = images
    }

    /// The same reader with the macros under `macros`.
    func with(macros node: SourceNode?) -> StepReader {
        guard let node, let entries = node.entries(diagnostics, of: "a map of names to steps")
        else { return self }
        var reader = self
        for entry in entries where !entry.key.hasPrefix("x-") {
            if !Form.name.accepts(entry.key) {
                diagnostics.error(
                    entry.keyPlace,
                    "\(quoted(entry.key)) is not \(Form.name.title)",
                    hint: Form.name.hint
                )
            }
            reader.macros[entry.key] = steps(entry.value, .macro)
        }
        return reader
    }

    func steps(_ node: SourceNode, _ role: Role) -> [Step] {
        guard let items = node.items(diagnostics, of: "steps") else { return [] }
        if items.isEmpty, role != .always {
            diagnostics.error(node.place, "the list of steps is empty", hint: "add a step")
        }
        return items.flatMap { steps(of: $0, role) }
    }

    /// The steps of one item: itself, or those of the macro that it uses.
    func steps(of node: SourceNode, _ role: Role) -> [Step] {
        guard case .map(let entries) = node.value, entries.contains(where: { $0.key == "use" })
        else { return step(node, role).map { [$0] } ?? [] }
        var reader = TableReader(node, Grammar.step, diagnostics)
        let others = reader.keys.filter { $0.key != "use" && !$0.key.hasPrefix("x-") }
        let use = reader.value("use")
        guard let use, let name = Form.name.read(use, diagnostics) else { return [] }
        if let other = others.first {
            diagnostics.error(
                other.keyPlace,
                "`\(other.key)` beside `use`",
                hint: "make two steps of them"
            )
            return []
        }
        guard role != .macro else {
            diagnostics.error(
                use.place,
                "a macro cannot use another one",
                hint: "write its steps here"
            )
            return []
        }
        guard let steps = macros[name] else {
            diagnostics.error(
                use.place,
                "no macro is named \(quoted(name))",
                hint: macros.isEmpty
                    ? "add it under `macros`" : Nearest.hint(name, among: macros.keys.sorted())
            )
            return []
        }
        if role == .always, steps.contains(where: \.decides) {
            diagnostics.error(
                use.place,
                "the macro \(quoted(name)) has `update` or `require`, which is not allowed under "
                    + "`always`",
                hint: "`always` runs whatever happened before; move the step to `steps`"
            )
        }
        return steps
    }

    private func step(_ node: SourceNode, _ role: Role) -> Step? {
        // Only a command makes sense as a bare word, and people try this.
        if case .scalar(let text, _) = node.value, CarShareCommand(rawValue: text) != nil {
            diagnostics.error(
                node.place,
                "expected a step as a map, found text",
                hint: "did you mean `command: \(text)`?"
            )
            return nil
        }
        var reader = TableReader(node, Grammar.step, diagnostics)
        let actions = reader.keys.filter { Grammar.step.exactlyOne.contains($0.key) }
        let action = read(&reader)
        reader.finish()
        guard case .map = node.value else { return nil }
        guard let first = actions.first else {
            let known = Grammar.step.exactlyOne
            let typo = reader.keys.contains { !Nearest.meant(by: $0.key, among: known).isEmpty }
            // An unknown key was already reported with its nearest action; a second error would
            // repeat that.
            if !typo {
                diagnostics.error(
                    node.place,
                    "the step has no action",
                    hint: "add one of " + known.map { "`\($0)`" }.joined(separator: ", ")
                )
            }
            return nil
        }
        guard actions.count == 1 else {
            diagnostics.error(
                actions[1].keyPlace,
                "a second action in one step: `\(actions[1].key)`",
                hint: "the first is `\(first.key)` at \(first.keyPlace); make two steps of them"
            )
            return nil
        }
        if role == .always, first.key == "update" || first.key == "require" {
            diagnostics.error(
                first.keyPlace,
                "`\(first.key)` is not allowed under `always`",
                hint: "`always` runs whatever happened before; move the step to `steps`"
            )
        }
        return action.map { Step($0, at: node.place, names: Self.places(of: first)) }
    }

    /// The places of the names in an action.
    private static func places(of action: SourceNode.Entry) -> [String: Step.NamePlace] {
        var places: [String: Step.NamePlace] = [:]
        switch (action.key, action.value.value) {
        case ("update", .map(let entries)):
            guard let healthy = entries.first(where: { $0.key == "healthy" }),
                case .map(let names) = healthy.value.value
            else { break }
            note(names)
        case ("require", .map(let names)), ("expect", .map(let names)), ("set", .map(let names)),
            ("feature", .map(let names)):
            note(names)
        case ("read", .scalar): note([action.value])
        case ("read", .list(let items)): note(items)
        default: break
        }
        func note(_ entries: [SourceNode.Entry]) {
            for entry in entries {
                places[entry.key] = Step.NamePlace(name: entry.keyPlace, value: entry.value.place)
            }
        }
        func note(_ names: [SourceNode]) {
            for node in names {
                guard case .scalar(let name, _) = node.value else { continue }
                places[name] = Step.NamePlace(name: node.place, value: node.place)
            }
        }
        return places
    }

    /// Reads every key that is present, so that the mistakes in each are reported.
    private func read(_ reader: inout TableReader) -> Step.Action? {
        var action: Step.Action?
        let otherwise = reader.defaultedWord("otherwise", Otherwise.self)
        let within = reader.defaultedDuration("within")
        if let node = reader.value("require") {
            action = .require(ConditionReader.conditions(node, diagnostics), otherwise: otherwise)
        }
        if let node = reader.value("update") { action = update(node).map(Step.Action.update) }
        if let node = reader.value("set") {
            action = .set(ConditionReader.assignments(node, diagnostics))
        }
        if let node = reader.value("read") { action = properties(node).map(Step.Action.read) }
        if let node = reader.value("expect") {
            action = .expect(ConditionReader.conditions(node, diagnostics), within: within)
        }
        if let node = reader.value("command") { action = commands(node).map(Step.Action.command) }
        if let node = reader.value("feature") {
            action = .feature(ConditionReader.assignments(node, diagnostics))
        }
        if let duration = reader.duration("wait") { action = .wait(duration) }
        if reader.word("rotate", Rotation.self) != nil { action = .rotate }
        // An item that uses a macro was already replaced by the macro's steps.
        _ = reader.value("use")
        return action
    }

    private enum Rotation: String, CaseIterable { case secret }

    private func update(_ node: SourceNode) -> UpdateStep? {
        if case .scalar = node.value {
            return image(node).map {
                UpdateStep(
                    image: $0,
                    allowsDowngrade: false,
                    healthy: [],
                    within: Grammar.update.defaultDuration("within")
                )
            }
        }
        enum Leave: String, CaseIterable { case forbid, allow }
        var reader = TableReader(node, Grammar.update, diagnostics)
        let by = reader.text("by")
        let target = reader.value("to").flatMap { destination($0, by: by) }
        let part = reader.defaultedWord("part", ModulePart.self)
        let via = reader.value("via").flatMap { nonEmpty($0, of: "images") } ?? []
        let path = via.compactMap(image)
        let downgrade = reader.defaultedWord("downgrade", Leave.self)
        let confirmed = reader.defaultedWord("confirmed", Leave.self)
        let within = reader.defaultedDuration("within")
        let healthy = reader.value("healthy").map {
            ConditionReader.conditions($0, diagnostics)
        }
        let judge = (reader.list("judge", of: "a program and its arguments") ?? []).compactMap {
            Form.word.read($0, diagnostics)
        }
        if healthy == nil, !reader.has("judge"), reader.has("within") {
            diagnostics.warning(
                reader.place(of: "within"),
                "`within` has no effect without `healthy` or `judge`",
                hint: "it limits how long they may take to come true"
            )
        }
        reader.finish()
        return target.map {
            UpdateStep(
                image: $0.image,
                choice: $0.choice,
                part: part,
                via: path,
                allowsDowngrade: downgrade == .allow,
                allowsConfirmed: confirmed == .allow,
                healthy: healthy ?? [],
                judge: judge,
                within: within
            )
        }
    }

    /// One image for all, or one for each value of the deciding column.
    private func destination(
        _ node: SourceNode,
        by column: String?
    ) -> (image: String, choice: ImageChoice?)? {
        guard let column else {
            if case .map = node.value {
                diagnostics.error(
                    node.place,
                    "the key that chooses between these images is missing",
                    hint: "add `by: family`, `by: model` or `by: COLUMN` to the update"
                )
                return nil
            }
            return image(node).map { ($0, nil) }
        }
        guard let entries = node.entries(diagnostics, of: "a map of values to images") else {
            return nil
        }
        var options: [String: ImageChoice.Option] = [:]
        for entry in entries {
            guard let image = image(entry.value) else { continue }
            options[entry.key] = ImageChoice.Option(image: image, place: entry.value.place)
        }
        guard let first = options.values.map(\.image).min() else {
            if entries.isEmpty {
                diagnostics.error(
                    node.place,
                    "no image is named",
                    hint: "write the values of `\(column)` with an image for each"
                )
            }
            return nil
        }
        return (first, ImageChoice(column: Label.name(column), options: options))
    }

    private func image(_ node: SourceNode) -> String? {
        guard let name = Form.imageName.read(node, diagnostics) else { return nil }
        guard images.contains(name) else {
            diagnostics.error(
                node.place,
                "no image is named \(quoted(name))",
                hint: images.isEmpty
                    ? "add it under `images`" : Nearest.hint(name, among: images)
            )
            return nil
        }
        return name
    }

    private func properties(_ node: SourceNode) -> [String]? {
        if case .scalar = node.value {
            return Form.property.read(node, diagnostics).map { [$0] }
        }
        return nonEmpty(node, of: "properties")?.compactMap {
            Form.property.read($0, diagnostics)
        }
    }

    private func commands(_ node: SourceNode) -> [CarShareCommand]? {
        if case .scalar = node.value {
            return node.choice(CarShareCommand.self, diagnostics, "a command").map { [$0] }
        }
        return nonEmpty(node, of: "commands")?.compactMap {
            $0.choice(CarShareCommand.self, diagnostics, "a command")
        }
    }

    private func nonEmpty(_ node: SourceNode, of what: String) -> [SourceNode]? {
        guard let items = node.items(diagnostics, of: what) else { return nil }
        if items.isEmpty {
            diagnostics.error(node.place, "the list is empty", hint: "name at least one of them")
        }
        return items
    }
}

extension Step {
    /// Whether the step may end the work on a vehicle early.
    fileprivate var decides: Bool {
        switch action {
        case .require, .update: true
        case .set, .read, .expect, .command, .feature, .wait, .rotate: false
        }
    }
}

extension Table {
    /// The default of a duration, for a short form without the map.
    func defaultDuration(_ key: String) -> Duration {
        guard case .fallback(let text) = self[key].presence, let duration = Duration(text: text)
        else { preconditionFailure("\(name).\(key) has no default") }
        return duration
    }
}
