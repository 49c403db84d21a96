import Base
import BlueZ
import Radio
import Simulation

/// The events between a simulated module and its adapter, in their order.
enum StageEvent: Sendable {
    case station(StationEvent)
    /// The module's appearance has changed.
    case face(ModuleFace)
}

/// What a module shows to devices that are not connected to it.
struct ModuleFace: Sendable, Equatable {
    /// The advertisement that it sends now; nil while it is silent.
    var broadcast: Broadcast?
    var table: [Characteristic: CharacteristicFlags]
    /// The pairing that a link needs before the table can be used.
    var pairing = Pairing.none
    /// The module's state as its own record; nil while it has a link.
    var record: String?
}

/// One request of a central, to be answered by the simulated module.
struct HostRequest: Sendable {
    enum Kind: Sendable {
        case read(offset: Int)
        case write([UInt8])
        /// A write without response.
        case command([UInt8])
        case subscribe
    }

    let kind: Kind
    let characteristic: Characteristic
    /// The MTU of the link; 23 when it is unknown.
    let mtu: Int
    let call: IncomingCall

    init?(_ call: IncomingCall, on characteristic: Characteristic) {
        let options = call.arguments.last?.asProperties ?? [:]
        let offset = options["offset"]?.asInt ?? 0
        switch call.member {
        case "ReadValue": kind = .read(offset: offset)
        case "WriteValue":
            guard offset == 0, let bytes = call.arguments.first?.asBytes else { return nil }
            kind = options["type"]?.asString == "command" ? .command(bytes) : .write(bytes)
        case "AcquireNotify": kind = .subscribe
        default: return nil
        }
        self.characteristic = characteristic
        self.call = call
        mtu = min(517, max(23, options["mtu"]?.asInt ?? 23))
    }
}

extension HostRequest {
    /// Answers a request that the module no longer receives, because its link ends: real BlueZ must
    /// not wait for an answer until then.
    ///
    /// A write was acknowledged by the module's stack; bluetoothd 5.82 crashes when it is answered,
    /// or given up, after the end of its link. An error would be taken for an error of the module.
    func endUnheard() {
        switch kind {
        case .write, .command: call.reply()
        case .read, .subscribe: call.fail(ErrorReply(.linkLost))
        }
    }
}

extension ErrorReply {
    /// The error in the form that BlueZ passes on to the central as an error of the protocol.
    init(_ error: RadioError) {
        let name =
            switch error {
            case .att(.insufficientAuthorization): "NotAuthorized"
            case .att(.invalidLength), .tooLong: "InvalidValueLength"
            case .att(.readNotPermitted), .att(.writeNotPermitted): "NotPermitted"
            case .att(.procedureInProgress): "InProgress"
            case .att(.improperlyConfigured): "ImproperlyConfigured"
            case .missingCharacteristic, .missingService: "NotSupported"
            case .att, .adapterOff, .adapterMissing, .serviceUnavailable, .unauthorized,
                .noFreeLink, .heldByAnother, .bond, .connectFailed, .servicesRefused, .linkLost,
                .timedOut, .cancelled:
                "Failed"
            }
        var text = error.description
        if case .att(let code) = error, (0x80...0x9F).contains(code.rawValue) {
            text = "0x" + String(code.rawValue, radix: 16)
        }
        self.init("org.bluez.Error." + name, text)
    }
}
