import Base
import Radio
import Simulation

extension SimulatedModule {
    /// The characteristics of a secure bootloader.
    var secureBootloader: [Characteristic: CharacteristicFlags] {
        [DFUNumbers.controlPoint: [.write, .notify], DFUNumbers.packet: [.writeWithoutResponse]]
    }

    /// Carries out a write to a control point, which refuses it while notifications are off.
    func answer<Action>(_ actions: [Action]?, perform: ([Action]) -> Void) -> ATTError? {
        guard let actions else { return .improperlyConfigured }
        perform(actions)
        return nil
    }

    /// Handles a write to the characteristic by which an application starts its bootloader.
    func buttonless(
        _ bytes: [UInt8],
        on characteristic: Characteristic,
        takesName: Bool = true,
        refuses: Plan.Kind
    ) {
        var (operation, result) = (bytes.first ?? 0, ButtonlessResponse.Result.success)
        var enters = false
        do throws(ButtonlessRefusal) {
            switch try ButtonlessOrder(bytes) {
            case .enterBootloader:
                enters = !happens(refuses)
                if !enters { result = .busy }
            case .setName where !takesName: result = .notSupported
            case .setName(let name):
                run.bootloaderName = name
                save()
            }
        } catch { (operation, result) = (error.operation, error.result) }
        let answer = ButtonlessResponse(operation: operation, result: result).bytes
        link?.indicate(answer, on: characteristic) { [weak self] in
            guard let self, enters else { return }
            self.restart(as: .bootloader, after: .milliseconds(300))
        }
    }
}
