import Base
import Manifest
import Radio
import Store

/// Preconditions: checked at their step, and again before the point of no return.
extension Execution {
    /// Checks the preconditions of the vehicle.
    func check(
        _ preconditions: [Precondition],
        _ otherwise: Otherwise,
        _ when: String = ""
    ) async throws(Halt) {
        for precondition in preconditions {
            guard let problem = try await problem(with: precondition) else { continue }
            problems.removeAll { $0.check == problem.check }
            problems.append(problem)
            depot.events.emit(.problem(vehicle, problem))
            guard let ending = otherwise.ending else {
                depot.events.emit(.warning("\(vehicle): \(problem.sentence)"))
                continue
            }
            throw .verdict(ending.outcome, ending.failure, problem.sentence + when)
        }
    }

    /// Checks all earlier preconditions again before this step: minutes may have passed since, and
    /// the step cannot be undone.
    func checkAgain(before step: Int) async throws(Halt) {
        for case .require(let preconditions, let otherwise) in job.steps.prefix(step)
        where otherwise != .warn {
            try await check(preconditions, otherwise, Self.again)
        }
    }

    /// The same for an update that another rollout began.
    func checkAgain(_ terms: UpdateTerms) async throws(Halt) {
        for (preconditions, otherwise) in zip(terms.requires, terms.otherwise) {
            try await check(preconditions, otherwise, Self.again)
        }
    }

    private static let again = ", when it was looked at again before the module restarts"

    /// Checks the conditions of an update that was begun before the rest of its image is sent.
    ///
    /// A bootloader reports nothing of its vehicle, but the strength of its signal is known.
    func check(
        _ terms: UpdateTerms,
        beforeTheRestOf debt: Debt,
        from sighting: ModuleSighting
    ) async throws(Halt) {
        switch UpdateMemory.Stage(rawValue: debt.stage) {
        case .none?, .preparing?, .transferring?: break
        case .activating?, .settling?, .checking?, .confirming?, .rollingBack?, nil: return
        }
        heard = sighting
        for (preconditions, otherwise) in zip(terms.requires, terms.otherwise) {
            let list = preconditions.filter { precondition in
                guard sighting.role == .bootloader else { return true }
                if case .signal = precondition { return true }
                return false
            }
            try await check(list, otherwise, ", before the rest of its image is sent")
        }
        heard = nil
    }

    private func problem(with precondition: Precondition) async throws(Halt) -> Problem? {
        switch precondition {
        case .label: return precondition.problemAhead
        case .property(let test): return try await problem(with: test)
        case .signal(let condition):
            let signal = try await signal(that: condition)
            return condition.holds(for: Literal(Double(signal)))
                ? nil : precondition.problem("\(signal) dBm")
        }
    }

    /// The signal strength of the module; it is enough when one advertisement of three meets the
    /// condition.
    private func signal(that condition: Condition) async throws(Halt) -> Int {
        var best = try await heardSignal()
        // A connected module does not advertise: only the earlier sighting is known.
        for _ in 0..<2 where !link.isOpen && !condition.holds(for: Literal(Double(best))) {
            let look = time.now.advanced(by: ReturnPause.look)
            guard let again = try await seek(before: look) else { break }
            best = max(best, again.signal)
        }
        return best
    }

    /// The problem with a value that the module reports; nil when it is as required.
    private func problem(with test: PropertyTest) async throws(Halt) -> Problem? {
        let holder = try await holder()
        do throws(PropertyReadError) {
            return try await Self.problem(with: test, on: holder)
        } catch { throw Halt(error, "while reading \(test.property)") }
    }

    static func problem(
        with test: PropertyTest,
        on holder: any PropertyHolder
    ) async throws(PropertyReadError) -> Problem? {
        let measured: PropertyValue?
        do throws(PropertyReadError) {
            measured = try await holder.read(test.property)
        } catch {
            guard case .missing = error else { throw error }
            measured = nil
        }
        if let measured, test.holds(for: measured) { return nil }
        return Precondition.property(test).problem(measured?.text ?? "not available")
    }
}

extension Problem {
    var sentence: String { "\(check) is \(measured), required is \(required)" }
}
