import Domain
import Modules
package import Simulation

/// Every family that is known, one line each: nothing else lists them.
package enum FamilyRegistry {
    /// One family, with all that the rest of the program gets of it.
    package struct Entry: Sendable {
        /// Its shipped profiles: what is inside the program, so that no file is needed beside it.
        let profiles: [(name: String, bytes: [UInt8])]
        /// Its modules' bootloaders, where we start them under a name of our own.
        var bootloader: BootloaderForm?
        /// Its modules in simulated depots.
        let simulated: SimulatedFamily
    }

    /// The first is meant where a file names none.
    private static let all: [Entry] = [.comodule, .lrdevice, .mcumgr, .geotabGo]

    package static let profiles = all.flatMap(\.profiles).sorted { $0.name < $1.name }
    static let bootloaders = all.compactMap(\.bootloader)
    package static let simulated = all.map(\.simulated)
}
