import Base
import Radio
import Simulation

extension SimulatedModule {
    /// The name that a secure bootloader was given, or its own.
    var secureBootloaderName: String {
        run.bootloaderName.isEmpty
            ? "DfuTarg" : String(decoding: run.bootloaderName, as: UTF8.self)
    }

    /// The characteristics of a secure bootloader.
    var secureBootloader: [Characteristic: CharacteristicFlags] {
        [DFUNumbers.controlPoint: [.write, .notify], DFUNumbers.packet: [.writeWithoutResponse]]
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
