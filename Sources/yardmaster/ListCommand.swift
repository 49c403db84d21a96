import Base
import Commands
import Operations
import Yard

/// `vehicle renamed`, `vehicle moved`, `accept-restore`: what a person says about changes that a
/// list and a journal cannot show.
struct ListCommand {
    private let invocation: Invocation
    private let context: Context
    private let words: ListWords

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        self.invocation = invocation
        self.context = context
        let state = try CommonOptions.stateDirectory(invocation, context)
        if try FleetAccess.ofVerb(invocation, context, state: state) != nil {
            throw CommandError(
                .usage,
                "this machine belongs to a fleet, which keeps what belongs to vehicles by their ids",
                hint: "settle what is open first, and then change the list"
            )
        }
        words = ListWords(
            state: state,
            reason: invocation[Command.reason],
            author: ControlCommand.author
        )
    }

    func renamed() async throws(CommandError) -> ExitCode {
        let ids = try invocation.arguments.map { text throws(CommandError) in try id(text) }
        guard ids.count % 2 == 0 else {
            throw CommandError(.usage, "each old id needs a new one", hint: "OLD NEW, OLD NEW, …")
        }
        let names = stride(from: 0, to: ids.count, by: 2).map { (old: ids[$0], new: ids[$0 + 1]) }
        let (olds, news) = (Set(names.map { $0.old }), Set(names.map { $0.new }))
        guard olds.count == names.count, news.count == names.count else {
            throw CommandError(.usage, "an id stands there twice")
        }
        return finish(try await words.renamed(names))
    }

    func moved() async throws(CommandError) -> ExitCode {
        guard let serial = Serial(invocation.arguments[0]) else {
            throw CommandError(.usage, "'\(invocation.arguments[0].visible)' is no serial")
        }
        return finish(try await words.moved(serial, to: try id(invocation.arguments[1])))
    }

    func acceptRestore() async throws(CommandError) -> ExitCode {
        finish(try await words.acceptRestore())
    }

    private func id(_ text: String) throws(CommandError) -> VehicleID {
        if let id = VehicleID(text) { return id }
        throw CommandError(.usage, "'\(text.visible)' is no id of a vehicle")
    }

    private func finish(_ sentence: String) -> ExitCode {
        let common = CommonOptions(invocation)
        let document = JSONValue.object([
            "schema": 1, "answer": .string(sentence),
        ])
        context.answer(common, document, sentence + "\n")
        return .done
    }
}
