import Domain
import Families
import Journal
import Manifest
import Modules
import Radio
import Reports
import Wire

/// Steps other than updates: what each does, and what the journal keeps of it.
extension Execution {
    /// Does a step that is no update; one that was done by this execution before is passed over.
    func act(_ step: JobStep, _ index: Int) async throws(Halt) {
        switch step {
        case .require(let list, let otherwise): try await check(list, otherwise)
        case .update: break
        case .read(let names): try await read(names, step, index)
        case .expect(let tests, let within): try await expect(tests, within, step, index)
        case .wait(let duration): try await wait(duration)
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

    private func change(_ step: JobStep) async throws(Halt) -> [Fact] {
        switch step {
        case .set(let orders): try await set(orders)
        case .feature(let orders): try await perform(orders)
        case .command(let commands): try await perform(commands)
        case .rotate: try await rotateSecret()
        case .require, .update, .read, .expect, .wait: []
        }
    }

    // MARK: The journal first

    /// Puts the intent on disk, acts, and puts down what became of it.
    private func once(
        _ step: JobStep,
        _ intent: Intent,
        settling owed: OwedStep?
    ) async throws(Halt) {
        var standing: StepRecords.Standing
        do throws(JournalError) {
            standing = try await StepRecords(journal: depot.journal).standing(of: intent)
            if standing == .done, let owed {
                if intent.effect == .converge, try await owes(owed) {
                    // A step was begun since, so what it brought about may not hold any more.
                    standing = .open
                } else {
                    try await depot.journal.drop(owed, telling: word(of: .did(owed)))
                }
            }
        } catch { throw .journal(error) }
        switch standing {
        case .done: return
        case .inDoubt: throw .doubt(step)
        case .open: break
        }
        let answer: IntentAnswer
        do throws(JournalError) {
            answer = try await depot.journal.intendUnlessInhibited(
                intent,
                owing: owes(by: intent),
                isFleets: depot.coordinator.isShared
            )
        } catch { throw .journal(error) }
        let id: IntentID
        switch answer {
        case .inhibited(let inhibit): throw .verdict(.deferred, nil, inhibit.sentence)
        case .intended(let found): id = found
        }
        if intent.execution == record.number { record.acted = true }
        if depot.stop.isRequested {
            try await settle(id, intent, IntentRecord.failed, isTold: false)
            throw .stopped
        }
        guard try await mayAct(step, intent, id, settling: owed) else { return }
        try await enter(.acting, detail: step.action)
        let facts: [Fact]
        do throws(Halt) {
            facts = try await change(step)
        } catch {
            // A journal that cannot be written says nothing of the vehicle: that stays in doubt.
            if case .journal = error { throw error }
            try await settle(
                id,
                intent,
                error.isDoubt ? IntentRecord.doubtful : IntentRecord.failed
            )
            tell(step, intent.place, error.isDoubt ? .inDoubt : .failed, [])
            throw error
        }
        try await settle(id, intent, IntentRecord.done, paying: owed)
        tell(step, intent.place, .done, facts)
    }

    /// Asks whether others have anything against it; false when one of them has done it.
    private func mayAct(
        _ step: JobStep,
        _ intent: Intent,
        _ id: IntentID,
        settling owed: OwedStep?
    ) async throws(Halt) -> Bool {
        let permit: Permit
        do throws(JournalError) {
            permit = try await depot.coordinator.permit(
                Act(intent, owing: owes(by: intent)),
                on: job.serial,
                paying: owed != nil,
                unless: depot.stop
            )
        } catch { throw .journal(error) }
        switch permit {
        case .granted: return true
        case .done:
            try await settle(id, intent, IntentRecord.done, paying: owed, isTold: false)
            tell(step, intent.place, .done, [])
            return false
        case .doubt(let gateway):
            try await settle(id, intent, IntentRecord.doubtful, isTold: false)
            throw .doubt(step, by: "\(gateway.visible)")
        case .inhibited(let inhibit):
            try await settle(id, intent, IntentRecord.failed, isTold: false)
            throw .verdict(.deferred, nil, inhibit.sentence)
        case .ended:
            // It may have been written down there, and surely was not done.
            try await settle(id, intent, IntentRecord.failed)
            throw .stopped
        }
    }

    func word(of deed: Deed) -> FleetWord? { depot.coordinator.word(of: deed, on: job.serial) }

    private func settle(
        _ id: IntentID,
        _ intent: Intent,
        _ outcome: String,
        paying owed: OwedStep? = nil,
        isTold: Bool = true
    ) async throws(Halt) {
        var words: [FleetWord?] = []
        if isTold { words.append(word(of: .settled(intent, outcome))) }
        if let owed { words.append(word(of: .did(owed))) }
        do throws(JournalError) {
            try await depot.journal.settle(
                id,
                outcome: outcome,
                at: time.wallTime,
                paying: owed,
                telling: words.compactMap(\.self)
            )
            try await depot.coordinator.tell()
        } catch { throw .journal(error) }
    }

    private func tell(
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

    // MARK: Properties

    func holder() async throws(Halt) -> any PropertyHolder {
        let application = try await present()
        do throws(ModuleError) {
            if let holder = try await application.properties() { return holder }
        } catch { throw Halt(error, "while reading what it is") }
        throw .verdict(.rejected, .rejected, "modules of its family have no properties")
    }

    private func read(
        _ names: [String],
        _ step: JobStep,
        _ index: Int
    ) async throws(Halt) {
        let holder = try await holder()
        try await enter(.acting, detail: step.action)
        var facts: [Fact] = []
        for name in names {
            do throws(PropertyReadError) {
                facts.append(Fact(name, try await holder.read(name).text))
            } catch { throw Halt(error, "while reading \(name)") }
        }
        tell(step, index, .done, facts)
    }

    private func set(_ orders: [PropertyOrder]) async throws(Halt) -> [Fact] {
        let holder = try await holder()
        var facts: [Fact] = []
        for order in orders {
            do throws(PropertyWriteError) {
                let taken = try await holder.write(order.value, to: order.name)
                facts.append(Fact(order.name, taken.text))
            } catch { throw Halt(error, "while setting \(order.name)") }
        }
        return facts
    }

    private func expect(
        _ tests: [PropertyTest],
        _ within: Duration,
        _ step: JobStep,
        _ index: Int
    ) async throws(Halt) {
        let holder = try await holder()
        try await enter(.acting, detail: step.action, deadline: ("expected values", within))
        let failing: [PropertyReading]
        do throws(PropertyReadError) {
            failing = try await holder.wait(
                for: tests,
                before: time.now.advanced(by: within),
                by: time
            )
        } catch { throw Halt(error, "while waiting for \(tests[0].property)") }
        let facts = failing.map { Fact($0.name, $0.value.text) }
        tell(step, index, failing.isEmpty ? .done : .failed, facts)
        guard let first = failing.first,
            let test = tests.first(where: { $0.property == first.name })
        else { return }
        let problem = Problem(
            check: first.name,
            measured: first.value.text,
            required: test.description
        )
        depot.events.emit(.problem(vehicle, problem))
        throw .verdict(.failed, .device, "\(problem.sentence) within \(within.brief)")
    }

    private func wait(_ duration: Duration) async throws(Halt) {
        // Nobody keeps a link open for nothing.
        await hangUp()
        try await enter(.acting, detail: "wait", deadline: ("end of the wait", duration))
        try await rest(
            until: time.now.advanced(by: duration),
            .next,
            for: "the end of a `wait` step"
        )
    }

    // MARK: Features

    private func perform(_ orders: [FeatureOrder]) async throws(Halt) -> [Fact] {
        guard let client = try await present().features else {
            throw .verdict(.rejected, .rejected, "modules of its family have no features")
        }
        for order in orders {
            let nonce = (0..<2).flatMap { _ in depot.chance().bigBytes }.prefix(12)
            do throws(FeatureError) {
                try await client.perform(order.spec, order.payload, nonce: Array(nonce))
            } catch {
                let doing = "feature \(order.spec.name)"
                switch error {
                case .noCredentials(let sentence): throw .verdict(.rejected, .rejected, sentence)
                case .inDoubt(let sentence):
                    guard let found = try await state(after: order) else {
                        throw .verdict(.inDoubt, .inDoubt, "\(doing): \(sentence)")
                    }
                    guard found == order.literal else {
                        throw .failure(.transient, "\(doing): \(sentence); it is \(found)")
                    }
                case .radio(let radio): throw Halt(radio, doing)
                case .failed(.rejected, let sentence):
                    throw .verdict(.failed, .rejected, "\(doing): \(sentence)")
                case .failed(let failure, let sentence):
                    throw .failure(failure, "\(doing): \(sentence)")
                }
            }
        }
        return []
    }

    /// What the module says of itself after an order of which nobody knows whether it was carried
    /// out; nil when it does not say, or has no state of that name.
    private func state(after order: FeatureOrder) async throws(Halt) -> String? {
        guard case .states = order.spec.payload else { return nil }
        await hangUp()
        do throws(Halt) {
            let holder = try await holder()
            guard await holder.property(order.spec.name) != nil else { return nil }
            do throws(PropertyReadError) {
                return try await holder.read(order.spec.name).text
            } catch { return nil }
        } catch {
            // Nothing is known of it, whatever came between; what ends the run still does.
            switch error {
            case .stopped, .paid, .journal: throw error
            case .verdict, .failure, .host, .elsewhere: return nil
            }
        }
    }

    // MARK: Car-share commands

    private func perform(_ commands: CarShareCommands) async throws(Halt) -> [Fact] {
        guard let supply = job.carShare, let peripheral = depot.peripheral else {
            throw .verdict(.rejected, .rejected, "there is no token for its GO device")
        }
        // The adapter changes its role: it is not spent on a link meanwhile.
        await hangUp()
        let credentials: CarShareCredentials
        do throws(TokenSupply.Fault) {
            credentials = try await supply.credentials(at: time.wallTime)
        } catch {
            switch error {
            case .later(let sentence): throw .elsewhere(sentence)
            case .wrong(let sentence): throw .verdict(.rejected, .rejected, sentence)
            }
        }
        let device = CarShareVehicle(
            peripheral: peripheral,
            credentials: credentials,
            bond: job.driver.recogniser.form == nil ? job.bond : .unbonded,
            time: time
        )
        do throws(CarShareError) {
            let report = try await device.send(
                commands,
                before: time.now.advanced(by: depot.rules.commandTimeout)
            )
            return report.statuses.enumerated().map { index, status in
                Fact("status \(index + 1)", status.description)
            }
        } catch {
            switch error.fate {
            case .inDoubt where commands.isHarmless:
                // Whatever became of it, it may be sent again until it is answered.
                throw .failure(.transient, error.description)
            case .inDoubt:
                throw .verdict(.inDoubt, .inDoubt, "\(error); \(commands.check)")
            case .failed:
                throw .verdict(.failed, error.failureClass, error.description)
            case .notSent, .refused:
                if let radio = error.radioError { throw Halt(radio, "as a peripheral") }
                if error.failureClass == .rejected {
                    throw .verdict(.rejected, .rejected, error.description)
                }
                throw .failure(error.failureClass, error.description)
            }
        }
    }
}

extension Halt {
    fileprivate var isDoubt: Bool {
        if case .verdict(.inDoubt, _, _) = self { return true }
        return false
    }

    /// A step that an earlier run began and of which nothing more is known.
    fileprivate static func doubt(_ step: JobStep, by whom: String = "an earlier run") -> Halt {
        .verdict(
            .inDoubt,
            .inDoubt,
            "\(whom) began `\(step.action)` and does not know how it ended; \(step.check)"
        )
    }
}

extension JobStep {
    fileprivate var check: String {
        if case .command(let commands) = self { return commands.check }
        return "look at the vehicle before it is repeated"
    }

    /// The one table of effect classes.
    var effect: Effect {
        switch self {
        case .require, .read, .expect, .wait: .observe
        case .update: .transfer
        case .set, .rotate: .converge
        case .feature: .once
        case .command(let commands): commands.isHarmless ? .converge : .once
        }
    }

    /// Whether it changes anything.
    var changes: Bool { effect != .observe }
}

extension VehicleJob {
    /// Whether nothing of it changes the vehicle.
    var onlyReads: Bool { !(steps + always).contains(where: \.changes) }

    /// The verdict of a vehicle of which nobody knows whether it carried something out.
    func closing(inDoubt doubt: IntentRecord) -> Closing {
        Closing(inDoubt: doubt, check(of: doubt.intent))
    }

    /// What a person looks at to settle a doubt about one of its steps.
    func check(of intent: Intent) -> String? {
        (steps + always).first { $0.action == intent.description }?.check
    }
}

extension CarShareCommands {
    /// Whether all of them can be repeated without harm: the vehicle ends as it is meant to be.
    fileprivate var isHarmless: Bool {
        list.allSatisfy { command in
            switch command {
            case .lock, .ignitionInhibit, .secureConditionsCheck: true
            case .unlockDriver, .unlockAll, .openTrunk, .closeTrunk, .locate, .ignitionEnable,
                .checkIn, .checkOut:
                false
            }
        }
    }

    /// What a person looks at to know whether they were carried out.
    fileprivate var check: String {
        let checks = list.map { command in
            switch command {
            case .lock: "whether the doors are locked"
            case .unlockDriver, .unlockAll: "whether the doors are open"
            case .openTrunk, .closeTrunk: "how the trunk stands"
            case .locate: "whether it sounded or flashed"
            case .ignitionInhibit, .ignitionEnable: "whether it can be started"
            case .checkIn, .checkOut: "whether its booking has begun or ended"
            case .secureConditionsCheck: "its result in the fleet's system"
            }
        }
        var seen: [String] = []
        for check in checks where !seen.contains(check) { seen.append(check) }
        return "look " + seen.joined(separator: " and ")
            + ", then say so: `retry` when it was not carried out, `clear` when it was"
    }
}
