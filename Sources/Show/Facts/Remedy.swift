/// What helps a vehicle: a row of the table of causes (`docs/causes.md`).
package struct Remedy: Sendable, Hashable {
    /// Who has to act.
    package enum Actor: String, CaseIterable, Sendable {
        /// Somebody who moves and charges vehicles.
        case crew
        case mechanic
        case `operator`
        case nobody
    }

    package let work: NextStep.Work
    /// What an operator does, or has somebody do.
    package let advice: String
    /// What a mechanic does at the vehicle.
    package let atVehicle: String
    package let actor: Actor
    /// Whether another night can help without anybody doing something before.
    package let isHelpedByNight: Bool

    private init(
        _ work: NextStep.Work,
        by actor: Actor,
        _ advice: String,
        _ atVehicle: String,
        night isHelpedByNight: Bool = false
    ) {
        self.work = work
        self.actor = actor
        self.advice = advice
        self.atVehicle = atVehicle
        self.isHelpedByNight = isHelpedByNight
    }

    /// The only place that decides which work helps against what.
    package init(_ cause: Cause, _ signal: Cause.Signal, _ tried: Cause.Tried) {
        switch cause {
        case .rejected: self = .refused
        case .integrity: self = .invalid
        case .list: self = .listed
        case .inhibited: self = .inhibited
        case .owing: self = .owing
        case .cutOff: self = .cutOff
        case .inDoubt where tried != .bootloader: self = .doubt
        case .internal where tried != .bootloader: self = .fault
        case _ where tried == .bootloader: self = signal == .near ? .waiting : .stranded
        case .unfinished where tried == .whole: self = signal == .near ? .unsettled : .silent
        case .transient, .timedOut: self = Remedy(ofLink: signal, tried)
        case .unreachable: self = .away
        case .noReturn: self = tried == .part ? .away : .lost
        case .device: self = .faulty
        case .wrongVersion, .rolledBack: self = .unhealthy
        case .quarantined: self = .quarantined
        case .lowPower: self = .low
        case .condition: self = .condition
        case .gateway: self = .gateway
        case .unfinished, .notBegun, .inDoubt, .internal: self = .next
        }
    }

    /// After a link that broke, or was too slow.
    private init(ofLink signal: Cause.Signal, _ tried: Cause.Tried) {
        switch signal {
        case .near: self = .again
        case .far: self = .weak
        case .unknown: self = tried == .nothing ? .again : .weak
        }
    }

    // MARK: Rows

    private static let stranded = Remedy(
        .rescue,
        by: .crew,
        "bring it near an adapter with power on, and run again; the run goes on there first",
        "check that its module has power; it does nothing else before its image is complete"
    )
    private static let waiting = Remedy(
        .rescue,
        by: .operator,
        "it is near: switch it off and on if it stays there, and run again; the run goes on there first",
        "switch it off and on; it does nothing else before its image is complete",
        night: true
    )
    private static let silent = Remedy(
        .rescue,
        by: .crew,
        "bring it near an adapter with power on, and run again; the run settles that first",
        "check that its module has power; its image is complete and was not seen to run"
    )
    private static let unsettled = Remedy(
        .rescue,
        by: .operator,
        "it is near: run again; the run settles that first",
        "nothing; its image is complete and was not seen to run",
        night: true
    )
    private static let doubt = Remedy(
        .answer,
        by: .operator,
        "look at the vehicle, then say it",
        "look whether it was carried out, and report that"
    )
    private static let cutOff = Remedy(
        .answer,
        by: .operator,
        "no run goes on with an order: look what was carried out, and order the rest",
        "nothing"
    )
    private static let faulty = Remedy(
        .mechanic,
        by: .mechanic,
        "let somebody inspect its module",
        "switch it off and on, and look at its module and cables",
        night: true
    )
    private static let lost = Remedy(
        .mechanic,
        by: .mechanic,
        "let somebody see whether its module works",
        "check the power of its module, then replace the module if it stays silent"
    )
    private static let unhealthy = Remedy(
        .mechanic,
        by: .mechanic,
        "let somebody inspect its module, and check the image if several have this",
        "look what its module runs, and whether it works with that"
    )
    private static let quarantined = Remedy(
        .mechanic,
        by: .mechanic,
        "runs leave it alone until somebody has looked and has cleared it",
        "look why updates fail on it, and report when it is in order"
    )
    private static let refused = Remedy(
        .correct,
        by: .operator,
        "correct what its message names; trying again does not help",
        "nothing; when its bond is refused, let its module pair again"
    )
    private static let invalid = Remedy(
        .correct,
        by: .operator,
        "get a valid image with its signature; nothing on the vehicle helps",
        "nothing"
    )
    private static let listed = Remedy(
        .correct,
        by: .operator,
        "correct the list, or begin again with it",
        "nothing"
    )
    private static let fault = Remedy(
        .correct,
        by: .operator,
        "report this as an error of the program, with the run's journal",
        "nothing",
        night: true
    )
    private static let low = Remedy(
        .charge,
        by: .crew,
        "charge it, the next run takes it",
        "check its battery if it does not charge"
    )
    private static let away = Remedy(
        .bringIn,
        by: .crew,
        "is it in the depot, charged, and not connected to a phone?",
        "check that its module has power",
        night: true
    )
    private static let weak = Remedy(
        .bringIn,
        by: .crew,
        "park it nearer to an adapter",
        "look at the antenna of its module if it is near"
    )
    private static let again = Remedy(
        .wait,
        by: .nobody,
        "the next run tries again",
        "nothing",
        night: true
    )
    private static let next = Remedy(
        .wait,
        by: .nobody,
        "the next run takes it",
        "nothing",
        night: true
    )
    private static let condition = Remedy(
        .wait,
        by: .nobody,
        "the next run looks again",
        "nothing",
        night: true
    )
    private static let owing = Remedy(
        .wait,
        by: .nobody,
        "the next run finishes it",
        "nothing",
        night: true
    )
    private static let gateway = Remedy(
        .wait,
        by: .operator,
        "look at the gateway and its Bluetooth; the vehicles are in order",
        "nothing",
        night: true
    )
    private static let inhibited = Remedy(
        .held,
        by: .operator,
        "release it when it may be worked on again",
        "report when it may be worked on again"
    )
}

// MARK: The document

extension Remedy {
    /// The table of `docs/causes.md`; what needs the same stands in one row.
    package static var reference: String {
        var text =
            "| cause | tried | heard last | work | who | another night | an operator | a mechanic |\n"
            + "|---|---|---|---|---|---|---|---|\n"
        for cause in Cause.allCases {
            for row in rows(of: cause) {
                let cells = [
                    "`\(cause.rawValue)`: \(cause.words)",
                    row.tried.count == Cause.Tried.allCases.count
                        ? "any" : row.tried.map(\.words).joined(separator: ", "),
                    row.signals.count == Cause.Signal.allCases.count
                        ? "any" : row.signals.map(\.rawValue).joined(separator: ", "),
                    "`\(row.remedy.work.rawValue)`", row.remedy.actor.rawValue,
                    row.remedy.isHelpedByNight ? "can help" : "does not help", row.remedy.advice,
                    row.remedy.atVehicle,
                ]
                text += "| \(cells.joined(separator: " | ")) |\n"
            }
        }
        return text
    }

    private typealias Row = (remedy: Remedy, signals: [Cause.Signal], tried: [Cause.Tried])

    private static func rows(of cause: Cause) -> [Row] {
        var rows: [Row] = []
        for tried in Cause.Tried.allCases {
            let found = Cause.Signal.allCases.grouped { Remedy(cause, $0, tried) }
            for (remedy, signals) in found {
                let same = rows.firstIndex { $0.remedy == remedy && $0.signals == signals }
                if let same {
                    rows[same].tried.append(tried)
                } else {
                    rows.append((remedy, signals, [tried]))
                }
            }
        }
        return rows
    }
}
