import Base
import Families
import Store

extension JobStep {
    var check: String {
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
    /// Whether no step of it changes the vehicle.
    var onlyReads: Bool { !(steps + always).contains(where: \.changes) }

    /// The verdict on a vehicle with a step in doubt.
    func closing(inDoubt doubt: IntentRecord) -> Closing {
        Closing(inDoubt: doubt, check(of: doubt.intent))
    }

    /// What a person has to check to settle a doubt about one of its steps.
    func check(of intent: Intent) -> String? {
        (steps + always).first { $0.action == intent.description }?.check
    }
}

extension CarShareCommands {
    /// What a person has to check to know whether they were carried out.
    var check: String {
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
