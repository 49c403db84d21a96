package import Base

/// A program that a manifest starts on this machine.
package struct PlannedProgram: Sendable, Hashable {
    /// When it is started, and what for.
    package let purpose: String
    /// The program and its arguments.
    package let words: [String]

    /// The program with all its arguments as a shell would take them, on one line.
    package var line: String { words.map(\.quotedForShell.visible).joined(separator: " ") }

    package var document: JSONValue {
        .object(["purpose": .string(purpose), "words": .array(words.map(JSONValue.string))])
    }
}

extension FrozenPlan {
    /// Every program that the manifest starts, each once.
    package var programs: [PlannedProgram] {
        var seen: Set<PlannedProgram> = []
        var programs: [PlannedProgram] = []
        func add(_ purpose: String, _ words: [String]) {
            guard !words.isEmpty else { return }
            let program = PlannedProgram(purpose: purpose, words: words)
            if seen.insert(program).inserted { programs.append(program) }
        }
        add("between two waves", rollout.between.check)
        for vehicle in vehicles {
            if case .command(let words)? = vehicle.issuer?.way { add("for each token", words) }
        }
        for step in vehicles.flatMap(\.steps) + always {
            guard let update = step.update else { continue }
            add("before \(update.image) is confirmed", update.judge)
        }
        for target in notify?.targets ?? [] {
            if case .program(let words) = target.way { add("for notices to \(target.name)", words) }
        }
        add("for notices by mail", notify?.sendmail.map { [$0] } ?? [])
        return programs
    }
}
