import Base
import Radio
import Store

/// Steps other than updates: which performer does each, and which events report it.
extension Execution {
    /// Does a step other than an update; skips one that this execution has done before.
    func act(_ step: JobStep, _ index: Int) async throws(Halt) {
        switch step {
        case .require(let list, let otherwise): try await check(list, otherwise)
        case .update: break
        case .read(let names):
            let reading = ReadStep(names: names, action: step.action)
            tell(step, index, .done, try await reading.perform(on: self))
        case .expect(let tests, let within):
            let waiting = ExpectStep(tests: tests, within: within, action: step.action)
            let failing = try await waiting.failing(on: self)
            let facts = failing.map { Fact($0.name, $0.value.text) }
            tell(step, index, failing.isEmpty ? .done : .failed, facts)
            try waiting.judge(failing, on: self)
        case .wait(let duration):
            _ = try await WaitStep(duration: duration).perform(on: self)
        case .set, .feature, .command, .rotate:
            let intent = Intent(
                of: record,
                step: job.key(of: index),
                place: index,
                effect: step.effect,
                description: step.action,
                begun: time.wallTime
            )
            let owed = always.first { $0.step == intent.step }
            try await once(step, intent, settling: owed)
        }
    }

    /// The same for a step that another execution owes the vehicle.
    func act(_ step: JobStep, as owed: OwedStep) async throws(Halt) {
        let intent = Intent(
            execution: owed.execution,
            run: depot.run,
            rollout: owed.rollout,
            vehicle: vehicle,
            step: owed.step,
            place: 0,
            effect: step.effect,
            description: step.action,
            begun: time.wallTime
        )
        try await once(step, intent, settling: owed)
    }

    /// Makes the change of a step with its performer.
    func change(_ step: JobStep) async throws(Halt) -> [Fact] {
        switch step {
        case .set(let orders): try await SetStep(orders: orders).perform(on: self)
        case .feature(let orders): try await FeatureStep(orders: orders).perform(on: self)
        case .command(let commands): try await CarShareStep(commands: commands).perform(on: self)
        case .rotate: try await SecretStep().perform(on: self)
        case .require, .update, .read, .expect, .wait: []
        }
    }

    func tell(
        _ step: JobStep,
        _ index: Int,
        _ fate: StepResult.Fate,
        _ facts: [Fact]
    ) {
        let names = Set(facts.map(\.name))
        seen = seen.filter { !names.contains($0.name) } + facts
        depot.events.emit(
            .stepEnded(vehicle, StepResult(index + 1, step.action, fate, facts: facts))
        )
    }

    func holder() async throws(Halt) -> any PropertyHolder {
        let application = try await present()
        do throws(ModuleError) {
            if let holder = try await application.properties() { return holder }
        } catch { throw Halt(error, "while reading what it is") }
        throw .verdict(.rejected, .rejected, "modules of its family have no properties")
    }
}
