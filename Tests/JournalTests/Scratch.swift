import Base
import Store
import Testing
import Workbench

extension Scratch {
    var journal: String { path + "/journal.sqlite" }

    /// The files of the journal, without the witness beside it.
    var files: [String] {
        Workbench.files(below: path).filter { !$0.hasSuffix("witness.sqlite") }
    }
}

/// Calls `body` with a journal on its own thread, and closes both.
func withJournal<R>(
    _ directory: String,
    _ body: (Journal) async throws -> R
) async throws -> R {
    let executor = try ThreadExecutor.start(name: "journal")
    defer { executor.stop() }
    let journal = try await Journal.open(directory: directory, executor: executor)
    let result: Result<R, any Error>
    do { result = .success(try await body(journal)) } catch { result = .failure(error) }
    await journal.close()
    return try result.get()
}

/// The kind of the error that opening the journal in a folder throws.
func kindOfOpening(_ directory: String) async throws -> JournalError.Kind? {
    let executor = try ThreadExecutor.start(name: "journal")
    defer { executor.stop() }
    do {
        _ = try await Journal.open(directory: directory, executor: executor).close()
        return nil
    } catch {
        return error.kind
    }
}

let plan = SHA256Digest(bytes: [UInt8](repeating: 7, count: 32))

func at(_ seconds: Int64) -> WallTime {
    WallTime(milliseconds: 1_790_000_000_000 + seconds * 1_000)
}

func vehicle(_ text: String) throws -> VehicleID { try #require(VehicleID(text)) }

func begin(_ journal: Journal, _ rollout: String = "r", at time: WallTime = at(0)) async throws
    -> Int
{
    try await journal.beginRun(rollout: rollout, plan: try #require(plan), at: time)
}

func execution(
    _ id: String,
    run: Int,
    rollout: String = "r",
    plan: SHA256Digest? = nil
) throws -> ExecutionRecord {
    ExecutionRecord(
        rollout: rollout,
        vehicle: try vehicle(id),
        serial: try #require(Serial("serial-\(id)")),
        plan: plan,
        run: run,
        started: at(1)
    )
}

/// Begins an execution and returns it with its number.
@discardableResult
func recorded(
    _ journal: Journal,
    _ id: String,
    run: Int,
    rollout: String = "r",
    plan: SHA256Digest? = nil
) async throws -> ExecutionRecord {
    let fresh = try execution(id, run: run, rollout: rollout, plan: plan)
    return try #require(try await journal.begin(Beginning(nil, fresh: [fresh])).first)
}

/// An intent of the first execution, or of the given one.
func intent(
    _ id: String,
    step: Int,
    effect: Effect = .once,
    execution: Int = 1,
    image: SHA256Digest? = nil
) throws -> Intent {
    Intent(
        execution: execution,
        run: 1,
        rollout: "r",
        vehicle: try vehicle(id),
        step: StepKey(plan, ordinal: step),
        place: step,
        effect: effect,
        description: "step \(step)",
        image: image,
        begun: at(Int64(step))
    )
}
