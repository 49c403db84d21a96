import Base
import Commands
import Manifest
import Operations
import Show
import Store

/// `complete`: the words that complete an argument in a shell, from the state directory.
///
/// It never fails: while a shell completes a word, there is no place for an error.
struct CompleteCommand {
    /// With more values, a label is different for each vehicle and useless for selection.
    private static let mostLabels = 200

    private let kind: Completion.Known?
    private let state: String?

    init(_ invocation: Invocation, _ context: Context) {
        kind = Completion.Known(rawValue: invocation.arguments[0])
        state = try? CommonOptions.stateDirectory(invocation, context, toLook: true)
    }

    func run(_ context: Context) -> ExitCode {
        guard let kind, let state else { return .done }
        let words =
            switch kind {
            case .vehicles: Self.vehicles(state)
            case .rollouts: Self.runs(state).map(\.rollout)
            case .runs: ["last"] + Self.runs(state).map { "\($0.number)" }
            }
        var told: Set<String> = []
        for word in words where told.insert(word).inserted {
            context.console.result(word.visible + "\n")
        }
        return .done
    }

    /// The newest first.
    private static func runs(_ state: String) -> [RunRecord] {
        let runs = try? JournalReader(directory: state).read { view throws(JournalError) in
            try view.runs(rollout: nil, limit: 1_000)
        }
        return runs ?? []
    }

    /// The vehicles of the rollout that ran last, their labels, and the outcomes.
    private static func vehicles(_ state: String) -> [String] {
        let ground = KnownVehicles(state: state).ground(ofRollout: nil)
        let ids = ground.others.union(ground.planned.map(\.id)).sorted().map(\.text)
        guard !ids.isEmpty else { return [] }
        let labels = Set(
            ground.planned.flatMap { $0.labels.filter { !$0.value.isEmpty } }
                .map { "\($0.name)=\($0.value)" }
        ).sorted()
        return ids + (labels.count > mostLabels ? [] : labels)
            + VehicleSelection.Group.allCases.map { "@\($0.rawValue)" }
    }
}
