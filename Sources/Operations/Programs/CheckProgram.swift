package import Base
import Glibc
import Rollout

/// The operator's program that decides whether the run may continue: between two waves, or before a
/// vehicle keeps its new image.
package struct CheckProgram: Sendable {
    package enum Answer: Sendable, Equatable {
        case yes
        /// It ended with 75: a decision is not possible yet.
        case later(String)
        case no(String)
        /// It was ended because the run ends.
        case cut(String)
    }

    /// EX_TEMPFAIL of `sysexits.h`: a temporary failure.
    private static let laterCode = 75

    private let words: [String]
    private let timeout: Duration
    /// The variables in its environment, in addition to those that every program needs.
    private let variables: [String]

    package init(
        _ between: BetweenWaves,
        rollout: String,
        wave: Int,
        isRehearsal: Bool = false
    ) {
        words = between.check
        timeout = between.timeout
        variables =
            ["YARDMASTER_ROLLOUT=\(rollout)", "YARDMASTER_WAVE=\(wave + 1)"]
            + ChildProgram.note(isRehearsal: isRehearsal)
    }

    init(_ judgement: Judgement, rollout: String, isRehearsal: Bool = false) {
        words = judgement.program
        timeout = judgement.limit
        variables =
            [
                "YARDMASTER_ROLLOUT=\(rollout)", "YARDMASTER_VEHICLE=\(judgement.vehicle)",
                "YARDMASTER_SERIAL=\(judgement.serial)", "YARDMASTER_IMAGE=\(judgement.image)",
                "YARDMASTER_VERSION=\(judgement.version)",
                "YARDMASTER_ADAPTER=\(judgement.adapter)",
            ] + ChildProgram.note(isRehearsal: isRehearsal)
    }

    /// Runs the program and returns its decision; blocks until the program has ended, or is ended
    /// because the run ends.
    ///
    /// It is run without a shell; its output goes to standard error.
    package func run(unless isOver: () -> Bool = { false }) -> Answer {
        guard let program = words.first else { return .yes }
        let child: ChildProgram
        switch ChildProgram.begin(
            words,
            [(STDOUT_FILENO, .descriptor(STDERR_FILENO))],
            environment: ChildProgram.plainEnvironment + variables
        ) {
        case .success(let begun): child = begun
        case .failure(.noPipe(let code)): return .no("no pipe: \(Descriptor.text(of: code))")
        case .failure(.notStarted(let code)):
            return .no("cannot run \(program): \(Descriptor.text(of: code))")
        }
        switch child.end(before: RealTime().now.advanced(by: timeout), unless: isOver) {
        case .late: return .no("\(program) took longer than \(timeout.brief)")
        case .cut: return .cut("\(program) was ended because the run ends")
        case .signal(let number): return .no("\(program) was ended by signal \(number)")
        case .code(0): return .yes
        case .code(Self.laterCode): return .later(Self.sentence(program, Self.laterCode))
        case .code(let code): return .no(Self.sentence(program, code))
        }
    }

    private static func sentence(_ program: String, _ code: Int) -> String {
        "\(program) ended with \(code)"
    }
}

extension CheckProgram.Answer {
    /// Why the rollout may not continue; nil when it may.
    package var objection: String? {
        switch self {
        case .yes: nil
        case .later(let sentence), .no(let sentence), .cut(let sentence): sentence
        }
    }

    var verdict: Judgement.Verdict {
        switch self {
        case .yes: .well
        case .later(let sentence), .cut(let sentence): .notYet(sentence)
        case .no(let sentence): .unwell(sentence)
        }
    }
}
