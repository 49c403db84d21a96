import Base
package import Commands
package import Manifest
package import Store

/// Converts the result of a run to an exit code.
package struct RunVerdict {
    private let tolerance: Tolerance
    private let vehicles: Int
    /// Whether the run covers only a part of the rollout: its gate sets no hold.
    private let isPart: Bool

    package init(_ tolerance: Tolerance, vehicles: Int, isPart: Bool = false) {
        self.tolerance = tolerance
        self.vehicles = vehicles
        self.isPart = isPart
    }

    /// The worst code that applies; `signal` is the code for a stop by a signal.
    package func code(of result: RunResult, stoppedBy signal: ExitCode? = nil) -> ExitCode {
        var codes: [ExitCode] = []
        let count = result.vehicles.count
        if count(.failed) > 0 { codes.append(.someFailed) }
        if count(.unreachable) > tolerance.unreachable.limit(of: vehicles)
            || count(.deferred) > tolerance.deferred.limit(of: vehicles)
        {
            codes.append(.someMissed)
        }
        switch result.ending {
        case .complete:
            // A person used `retry` at the last moment.
            if result.unfinished > 0 { codes.append(.workLeft) }
        case .paused where isPart, .aborted where isPart:
            // The gate judged only a part of the rollout, so it ends only this run.
            if result.unfinished > 0 { codes.append(.workLeft) }
        case .paused: codes.append(.paused)
        case .aborted: codes.append(.aborted)
        case .replaced: codes.append(.workLeft)
        case .workLeft:
            // The remaining work may have ended after the window closed.
            if result.unfinished > 0 { codes.append(.workLeft) }
        case .stopped:
            if result.unfinished > 0 {
                codes.append(signal ?? .terminated)
            }
        }
        return ExitCode.worst(of: codes)
    }

    /// The code's sentence, with the known details.
    ///
    /// `hold` is the hold when the run has ended; nil after a pause that was lifted in the meantime.
    package func reason(_ code: ExitCode, _ result: RunResult, _ hold: Hold?) -> String {
        switch result.ending {
        case .paused(let why) where isPart, .aborted(let why) where isPart:
            return
                "\(code.sentence): a gate ended this run, and with --limit it sets nothing: \(why)"
        case .complete, .stopped, .replaced, .workLeft, .paused, .aborted: break
        }
        switch code {
        case .done:
            // The manifest tolerates some that were not reached.
            let missed = result.vehicles.count(.unreachable) + result.vehicles.count(.deferred)
            return missed == 0
                ? "nothing to do for you" : "no more were missed than the manifest tolerates"
        case .paused where hold?.isByGate != true:
            let sentence = "the rollout \(hold == nil ? "was" : "is") paused"
            let reason = result.ending.sentence.map { "\(sentence): \($0)" } ?? sentence
            return hold == nil ? reason + RunRecord.End.resumed : reason
        case .aborted where hold?.kind == .recalled:
            return
                "the rollout is recalled: \(hold?.reason ?? ""); "
                + "`rollback \(hold?.rollout ?? "")` goes on with that"
        case .paused, .aborted, .workLeft:
            return result.ending.sentence.map { "\(code.sentence): \($0)" } ?? code.sentence
        case .internalError, .someFailed, .someMissed, .usage, .invalidManifest,
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy, .trustRefused,
            .configuration, .interrupted, .terminated:
            return code.sentence
        }
    }
}

extension RunRecord {
    /// What can be done after it was cut off, for people.
    package var cutOff: String {
        isOrder
            ? "no run goes on with an order, so look what was carried out before you give it again"
            : "run it again and it goes on where the modules stand"
    }
}

extension RunRecord.End {
    fileprivate static let resumed = "; resumed since"

    /// Why it ended, for people who look later: `hold` is what holds its rollout now.
    package func reason(under hold: Hold?) -> String {
        exitCode == Int(ExitCode.paused.rawValue) && hold == nil && !reason.hasSuffix(Self.resumed)
            ? reason + Self.resumed : reason
    }
}
