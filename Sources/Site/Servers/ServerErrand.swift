package import Base
import Commands
package import Images
package import Manifest
import Operations
package import Servers
package import Store

/// Asks an update server about all vehicles of a plan, one after the other, and says what has become
/// of its actions.
package struct ServerErrand {
    /// After this many failures in a row the server is not there.
    private static let mostFailures = 3

    private let server: ServerSettings
    private let plan: FrozenPlan
    private let journal: Journal
    private let line: any ServerLine
    private let supply: ArtifactSupply
    private let host: String
    private let time: any Timekeeper
    private let rollout: String
    private let share: ServerShare?

    /// With a `share` other gateways act for the same vehicles.
    package init(
        to server: ServerSettings,
        for plan: FrozenPlan,
        journal: Journal,
        over line: any ServerLine,
        into fetcher: ImageFetcher,
        state: String,
        host: String,
        time: any Timekeeper,
        sharing share: ServerShare? = nil
    ) async throws(JournalError) {
        self.server = server
        self.plan = plan
        self.journal = journal
        self.line = line
        self.host = host
        self.time = time
        self.share = share
        rollout = ServedManifest.rollout(of: plan)
        supply = ArtifactSupply(
            from: server,
            over: line,
            into: fetcher,
            state: state,
            denying: plan.trust.denied,
            known: try await journal.look { view throws(JournalError) in
                try view.serverImages(server: server.name)
            }
        )
    }

    /// How many files were fetched.
    package var fetched: Int { get async { await supply.fetched } }

    /// A row for each vehicle; with `stop`, those that come later are not asked.
    package func run(
        until stop: () -> Bool,
        _ progress: (Int, Int) -> Void = { _, _ in }
    ) async throws(JournalError) -> [SyncRow] {
        var rows: [SyncRow] = []
        var failures = 0
        for vehicle in plan.vehicles {
            let controller = ServersFile.controller(of: vehicle, at: server)
            var row = SyncRow(vehicle.id, controller)
            if failures < Self.mostFailures, !stop() {
                let session = try await share?.session()
                if share != nil, session == nil {
                    let why = "another gateway speaks to the server"
                    row.ending = .failed(ServerFault(why, isSilence: true))
                } else {
                    try await agree(on: controller)
                    try await decide(on: vehicle, controller)
                    row.ending = try await converse(vehicle, controller, session, &row.told)
                }
                // A fault of one vehicle says nothing about the others.
                if case .failed(let fault)? = row.ending, fault.isSilence {
                    failures += 1
                } else {
                    failures = 0
                }
            }
            row.actions = try await actions(of: controller)
            rows.append(row)
            progress(rows.count, plan.vehicles.count)
        }
        return rows
    }

    /// What the next run is to do: an image for each of these modules.
    package func work() async throws(JournalError) -> [(action: ServerAction, image: SHA256Digest)]
    {
        var wanted: [Serial: (action: ServerAction, image: SHA256Digest)] = [:]
        for action in try await journal.serverActions(server: server.name) {
            guard action.state == .open, action.isWanted, action.rollout == rollout,
                let image = action.image, wanted[action.serial] == nil
            else { continue }
            wanted[action.serial] = (action, image)
        }
        // In the order of the list, so that all gateways of a fleet have the same plan.
        return plan.vehicles.compactMap { wanted[$0.serial] }
    }

    private func actions(of controller: String) async throws(JournalError) -> [ServerAction] {
        try await journal.serverActions(server: server.name, controller)
    }

    private func open(
        _ id: ActionID,
        _ controller: String
    ) async throws(JournalError) -> ServerAction? {
        try await actions(of: controller).first { $0.action == id.text && $0.state == .open }
    }

    private func standing(of action: ServerAction) async throws(JournalError) -> ServerCase {
        var work = try await journal.look { view throws(JournalError) in try view.work(on: action) }
        try await share?.add(to: &work, of: action)
        return ServerCase(of: action, work, quarantineAfter: plan.rollout.quarantineAfter)
    }

    /// Ends open actions that another gateway has ended, and repeats what a kill may have kept from the others.
    private func agree(on controller: String) async throws(JournalError) {
        guard let share else { return }
        for action in try await actions(of: controller) {
            guard action.state == .open else {
                try await forbid(action)
                continue
            }
            // If the server has it still, it is taken as a new one.
            if try await share.hasWithdrawn(action) { try await journal.end([action.number]) }
        }
    }

    /// Forbids transfers for an ended action on all gateways, unless another action wants the same.
    private func forbid(_ action: ServerAction) async throws(JournalError) {
        guard let share else { return }
        let isWanted = try await actions(of: action.controller).contains {
            $0.number != action.number && $0.state == .open && $0.image == action.image
        }
        if !isWanted { try await share.forbid(action) }
    }

    /// Gives open actions the verdicts that the journal has for them.
    private func decide(
        on vehicle: PlannedVehicle,
        _ controller: String
    ) async throws(JournalError) {
        for action in try await actions(of: controller) where action.state == .open {
            switch try await standing(of: action) {
            case .success(let why): try await journal.close(action.number, .success, why)
            case .failure(let why): try await journal.close(action.number, .failure, why)
            case .open: continue
            }
            try await forbid(action)
        }
    }

    // MARK: One conversation

    private func converse(
        _ vehicle: PlannedVehicle,
        _ controller: String,
        _ session: Int64?,
        _ told: inout [String]
    ) async throws(JournalError) -> ControllerMachine.Ending {
        let isShared = share != nil
        let known = try await actions(of: controller)
        var machine = ControllerMachine(
            at: server.authority,
            due: known.compactMap { $0.word(isShared: isShared) },
            open: known.filter { $0.state == .open }.compactMap { ActionID($0.action) },
            confirms: server.confirms
        )
        var action = machine.begin()
        while true {
            switch action {
            case .poll: action = machine.polled(await ask(controller, ""))
            case .tell(let word):
                action = machine.told(try await tell(word, controller, session, &told))
            case .settle(let word):
                if let number = word.number, word.isLast { try await journal.end([number]) }
                action = machine.settled()
            case .readCancel(let id):
                action = machine.readCancel(await ask(controller, "cancelAction/\(id)"))
            case .decide(let id):
                action = machine.decided(try await decide(id, vehicle, controller))
            case .describe: action = machine.described(try await describe(vehicle, controller))
            case .look(let id):
                action = machine.looked(await ask(controller, "deploymentBase/\(id)"))
            case .forget(let id):
                try await forget(id, controller, &told)
                action = machine.forgotten()
            case .drop:
                try await drop(controller)
                action = machine.dropped()
            case .readConfirmation(let id):
                action = machine.readConfirmation(await ask(controller, "confirmationBase/\(id)"))
            case .weigh(let deployment):
                switch await weigh(deployment, vehicle, controller, &told) {
                case .success(let isDone): action = machine.weighed(isDone)
                case .failure(let fault): return .failed(fault.ending)
                }
            case .confirm(let id): action = machine.confirmed(await confirm(id, controller, &told))
            case .read(let id):
                action = machine.read(await ask(controller, "deploymentBase/\(id)"))
                guard case .take(_, let deployment) = action else { continue }
                switch try await take(id, deployment, vehicle, controller) {
                case .success(let report): action = machine.taken(report)
                case .failure(let fault): return .failed(fault.ending)
                }
            case .take: return .failed("an action was taken twice")
            case .finish(let ending):
                if ending == .unknown { try await drop(controller) }
                return ending
            }
        }
    }

    private func ask(_ controller: String, _ place: String) async -> ServerAnswer {
        await line.ask(ServerRequest(.get, controller, place))
    }

    private func tell(
        _ word: ServerWord,
        _ controller: String,
        _ session: Int64?,
        _ told: inout [String]
    ) async throws(JournalError) -> ServerAnswer {
        // Another gateway may have said it since this one asked.
        if word.isLast, let share, try await share.session() != session {
            return .failure("the session with the fleet's database was lost on the way")
        }
        if word.isLast, let number = word.number { try await journal.sending(number) }
        let kind = word.isAboutCancel ? "cancelAction" : "deploymentBase"
        let answer = await line.ask(
            ServerRequest(
                .post(word.feedback.body(of: word.action)),
                controller,
                "\(kind)/\(word.action)/feedback"
            )
        )
        switch answer {
        case .failure: return answer
        case .absent: told.append("action \(word.action) is over at the server")
        case .success:
            if !word.isLast, !word.isAboutCancel, let number = word.number {
                try await journal.heard(number, word.feedback.details)
            }
            let result = word.feedback.result == .none ? "" : "/\(word.feedback.result.rawValue)"
            told.append(
                "action \(word.action)\(word.isAboutCancel ? ", cancel" : ""): "
                    + "\(word.feedback.execution.rawValue)\(result)"
            )
        }
        return answer
    }

    /// Whether an action that waits for a confirmation would be done this night: its image is here then.
    private func weigh(
        _ deployment: Deployment,
        _ vehicle: PlannedVehicle,
        _ controller: String,
        _ told: inout [String]
    ) async -> Result<Bool, SupplyFault> {
        guard deployment.isWanted || deployment.isDownloadOnly else { return .success(false) }
        do throws(SupplyFault) {
            guard let why = try await demand(deployment, vehicle, controller).refusal else {
                return .success(true)
            }
            told.append("action \(deployment.action) is not confirmed: \(why)")
            return .success(false)
        } catch { return .failure(error) }
    }

    private func confirm(
        _ id: ActionID,
        _ controller: String,
        _ told: inout [String]
    ) async -> ServerAnswer {
        let body = Feedback.confirmation("the image is in the store of \(host)")
        let place = "confirmationBase/\(id)/feedback"
        let answer = await line.ask(ServerRequest(.post(body), controller, place))
        if case .success = answer { told.append("action \(id): confirmed") }
        return answer
    }

    /// Ends the open actions of a controller that the server does not have any more.
    private func drop(_ controller: String) async throws(JournalError) {
        let open = try await actions(of: controller).filter { $0.state == .open }
        for action in open { try await share?.forbid(action) }
        if !open.isEmpty { try await journal.end(open.map(\.number)) }
    }

    /// Ends an open action that the server does not have any more; one that has begun waits for its verdict.
    private func forget(
        _ id: ActionID,
        _ controller: String,
        _ told: inout [String]
    ) async throws(JournalError) {
        guard let action = try await open(id, controller), try await isFree(action),
            try await journal.drop(action.number)
        else { return }
        told.append("action \(id) is over at the server")
    }

    /// Decides whether an action can still be ended, and returns the answer to the server.
    private func decide(
        _ id: ActionID,
        _ vehicle: PlannedVehicle,
        _ controller: String
    ) async throws(JournalError) -> ServerWord {
        let known = try await actions(of: controller).first { $0.action == id.text }
        let accepted = Feedback(.closed, .success, "nothing of it was sent to the module")
        guard let known else {
            // The module may have begun for an earlier action, or for this one at another gateway.
            var isFree = try await journal.debt(of: vehicle.serial) == nil
            if isFree, let share {
                isFree = try await share.withdraw(nil, from: vehicle.serial)
            }
            let word =
                isFree ? accepted : Feedback(.rejected, .none, "the module is not at rest yet")
            return ServerWord(word, of: id, number: nil, isAboutCancel: true, isLast: isFree)
        }
        let isCancelled =
            switch known.state {
            case .open:
                try await isFree(known)
                    ? try await journal.cancel(known.number, accepted.details) : false
            case .cancelled: true
            case .closing, .over: false
            }
        if isCancelled {
            return ServerWord(
                accepted,
                of: id,
                number: known.number,
                isAboutCancel: true,
                isLast: true
            )
        }
        let why =
            known.state == .closing
            ? "it has ended: \(known.details ?? "")"
            : "the module has begun, and is not at rest yet"
        return ServerWord(
            Feedback(.rejected, .none, why),
            of: id,
            number: known.number,
            isAboutCancel: true
        )
    }

    // MARK: What is known of a vehicle

    private func describe(
        _ vehicle: PlannedVehicle,
        _ controller: String
    ) async throws(JournalError) -> ServerAnswer {
        let (version, seen) = try await journal.look { view throws(JournalError) in
            (
                try view.runVersions().first { $0.vehicle == vehicle.id }?.version.description,
                try view.sightings().first { $0.vehicle == vehicle.id }?.time.description
            )
        }
        let known = [("version", version), ("last-seen", seen), ("gateway", host)]
            .compactMap { name, value in value.map { (name: name, value: $0) } }
        let usual = ["id", "serial", "family", "profile"]
        var attributes = ServersFile.values(of: vehicle).filter { usual.contains($0.name) } + known
        let values = ServersFile.values(of: vehicle) + known
        for attribute in server.attributes {
            // Without a value, a name of the server would be set to the braces.
            let text = Template.fill(attribute.value, values)
            guard !text.contains("{") else { continue }
            attributes.append((attribute.name, text))
        }
        let body = Feedback.attributes(attributes)
        return await line.ask(ServerRequest(.put(body), controller, "configData"))
    }

    // MARK: Taking an action

    private func take(
        _ id: ActionID,
        _ deployment: Deployment,
        _ vehicle: PlannedVehicle,
        _ controller: String
    ) async throws(JournalError) -> Result<ServerWord?, SupplyFault> {
        let known = try await open(id, controller)
        let demand: Demand
        do throws(SupplyFault) {
            demand = try await self.demand(deployment, vehicle, controller)
        } catch { return .failure(error) }
        try await journal.wantOnly(id.text, of: server.name, controller)
        if let known, known.serial == vehicle.serial, known.demand == deployment.demand,
            known.image == demand.image, known.terms == demand.terms, known.image != nil
        {
            try await journal.want(known.number, deployment.isWanted)
        } else {
            var action = ServerAction(
                server: server.name,
                controller: controller,
                action: id.text,
                vehicle: vehicle.id,
                serial: vehicle.serial,
                rollout: rollout,
                demand: deployment.demand,
                image: demand.image,
                version: demand.version,
                terms: demand.terms,
                after: try await journal.runs(rollout: nil, limit: 1).first?.number ?? 0,
                taken: time.wallTime,
                isWanted: deployment.isWanted && demand.image != nil
            )
            // What was said of the same refusal is not said again.
            if let known, known.image == nil, demand.image == nil { action.details = known.details }
            guard try await isFree(known), try await journal.take(action) else {
                let why =
                    known?.serial == vehicle.serial
                    ? "the server has changed action \(id) while the module gets it"
                    : "the module that was in \(vehicle.id) has begun action \(id), and is not at rest"
                return .failure(.later(why))
            }
        }
        guard let taken = try await open(id, controller) else { return .success(nil) }
        if let refusal = demand.refusal { return .success(refused(taken, id, refusal)) }
        try await share?.allow(taken)
        if deployment.isDownloadOnly {
            let details = "the image is in the store of \(host)"
            try await journal.close(taken.number, .downloaded, details)
            try await forbid(taken)
            return .success(nil)
        }
        return .success(try await report(taken, id))
    }

    /// Whether no gateway of the fleet has begun to send an action's image; none begins from then on.
    private func isFree(_ action: ServerAction?) async throws(JournalError) -> Bool {
        guard let action, let image = action.image else { return true }
        return try await share?.withdraw(image, from: action.serial) ?? true
    }

    /// What a deployment means for one vehicle.
    private struct Demand {
        var image: SHA256Digest?
        var version: FirmwareVersion?
        var terms = ""
        var refusal: String?
    }

    private func demand(
        _ deployment: Deployment,
        _ vehicle: PlannedVehicle,
        _ controller: String
    ) async throws(SupplyFault) -> Demand {
        var demand = Demand()
        let chosen: ChosenArtifact
        do throws(NoArtifact) {
            chosen = try server.artifact(
                of: deployment,
                family: vehicle.family.rawValue,
                profile: vehicle.profile
            )
        } catch {
            demand.refusal = "\(error)"
            return demand
        }
        let terms = ServedImage(chosen)
        (demand.version, demand.terms) = (chosen.version, terms.text)
        do throws(SupplyFault) {
            demand.image = try await supply.image(chosen, terms, for: controller)
        } catch {
            guard case .refused(let why) = error else { throw error }
            demand.refusal = why
        }
        return demand
    }

    private func refused(_ action: ServerAction, _ id: ActionID, _ why: String) -> ServerWord? {
        guard action.details != why else { return nil }
        return ServerWord(Feedback(.rejected, .none, why), of: id, number: action.number)
    }

    /// What the server has not heard of an open action yet.
    private func report(
        _ action: ServerAction,
        _ id: ActionID
    ) async throws(JournalError) -> ServerWord? {
        guard case .open(let text) = try await standing(of: action), text != action.details else {
            return nil
        }
        return ServerWord(Feedback(.proceeding, .none, text), of: id, number: action.number)
    }
}

extension ServerAction {
    /// The last word about it, which the server does not have yet; nil while it is open.
    ///
    /// Of what is shared, another gateway may have sent it.
    fileprivate func word(isShared: Bool) -> ServerWord? {
        guard let id = ActionID(action) else { return nil }
        let (feedback, isAboutCancel): (Feedback, Bool)
        switch (state, verdict) {
        case (.closing, .success): (feedback, isAboutCancel) = (said(.closed, .success), false)
        case (.closing, .failure): (feedback, isAboutCancel) = (said(.closed, .failure), false)
        case (.closing, .downloaded): (feedback, isAboutCancel) = (said(.downloaded), false)
        case (.cancelled, _): (feedback, isAboutCancel) = (said(.closed, .success), true)
        case (.open, _), (.over, _), (.closing, nil): return nil
        }
        return ServerWord(
            feedback,
            of: id,
            number: number,
            isAboutCancel: isAboutCancel,
            isLast: true,
            wasSent: wasSent || isShared
        )
    }

    private func said(
        _ execution: Feedback.Word,
        _ result: Feedback.Result = .none
    ) -> Feedback {
        Feedback(execution, result, details ?? "")
    }
}
