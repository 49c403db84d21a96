package import Base
import Radio
import Simulation

/// A simulated ESP device: its application with the OTA service, and its faults.
package final class ESPModule: SimulatedModule<ESPPlan, FirmwareVersion> {
    private var target: ESPTarget

    init(_ plan: ESPPlan, _ place: ModulePlace) {
        target = ESPTarget(server: plan.server)
        super.init(plan, place, plan.version)
    }

    /// The version after an update: for tests, not visible over the air.
    package var runningVersion: FirmwareVersion { facts }

    // MARK: On the air

    override func describe(_ broadcast: inout Broadcast) {
        broadcast.name = plan.name
        broadcast.services = [ESPNumbers.service]
    }

    override var address: [UInt8] { plan.serial.address ?? plan.serial.address(from: 0xE5) }

    package override var characteristics: [Characteristic: CharacteristicFlags] {
        let data: CharacteristicFlags =
            plan.server == .raw ? [.write, .writeWithoutResponse, .notify] : [.write, .indicate]
        return [
            versionPlace: [.read], ESPNumbers.firmware: data,
            ESPNumbers.command: [.write, plan.server == .raw ? .notify : .indicate],
        ]
    }

    /// The characteristic that holds its version, as the profile names it.
    private var versionPlace: Characteristic {
        guard case .information(let short) = plan.profile?.target(of: .secondary)?.version else {
            return DeviceInformation.firmwareRevision
        }
        return DeviceInformation.characteristic(short)
    }

    override func value(of characteristic: Characteristic) -> Result<[UInt8], ATTError> {
        characteristic == versionPlace
            // As in the maker's example: a C string with its terminating zero.
            ? .success(Array(facts.description.utf8) + [0])
            : .failure(.readNotPermitted)
    }

    override func take(_ bytes: [UInt8], on characteristic: Characteristic) -> ATTError? {
        switch characteristic {
        case ESPNumbers.command:
            if case .start? = try? ESPCommand(bytes), happens(.refusesStart) {
                let word = ESPCommand.acknowledge(command: 1, isAccepted: false, window: 0)
                notifyWhenReady(word.bytes, on: ESPNumbers.command)
                return nil
            }
            return perform(target.commanded(bytes))
        case ESPNumbers.firmware:
            let before = target.image.count
            let error = perform(target.packetWritten(bytes))
            if target.image.count > before { cut(at: target.image.count) }
            return error
        default: return .writeNotPermitted
        }
    }

    private func perform(_ actions: [ESPTarget.Action]) -> ATTError? {
        var error: ATTError?
        for action in actions {
            switch action {
            case .acknowledge(let bytes):
                if !isLost({ .ackLost($0) }) { notifyWhenReady(bytes, on: ESPNumbers.firmware) }
            case .answer(let bytes): notifyWhenReady(bytes, on: ESPNumbers.command)
            case .erase(let count):
                let pages = (count + ESPNumbers.sectorLength - 1) / ESPNumbers.sectorLength
                occupyFlash(plan.eraseTime * pages)
            // ATT error 0x0E: the value is not allowed.
            case .refuse: error = ATTError(rawValue: 0x0E)
            case .complete: complete()
            }
        }
        return error
    }

    /// Checks the image as the device's own library does.
    ///
    /// Failures are not reported to the central.
    private func complete() {
        guard let image = try? ESPImage(target.image), image.chip == plan.chip,
            let version = FirmwareVersion(image.version), !happens(.failsSilently)
        else { return }
        if happens(.neverReturns) {
            run.mode = .dead
        } else if happens(.rollsBack) {
            let old = facts
            world.after(plan.restartTime + .seconds(12)) { [weak self] in
                guard let self else { return }
                self.facts = old
                self.restart()
            }
        }
        facts = version
        restart()
    }

    /// It loses what it has of an image.
    override func restart(as mode: RunFacts.Mode, after delay: Duration) {
        target.restarted()
        super.restart(as: mode, after: delay)
    }
}
