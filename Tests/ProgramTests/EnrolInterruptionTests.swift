import Base
import Families
import Foundation
import Operations
import Radio
import Simulation
import Store
import Synchronization
import Testing
import Yard

/// Enrolment that is interrupted at every exchange and at every file, on either side: the module is
/// never locked out.
///
/// After the next run, the file, the module and the journal agree.
@Suite struct EnrolInterruptionTests {
    enum Break: CaseIterable {
        /// Our process ends before, or directly after, its n-th act.
        case killedBefore, killedAfter
        /// The module restarts its radio before, or directly after, the n-th exchange.
        case lostBefore, lostAfter
        /// The module loses its power before, or directly after, the n-th exchange: data in its
        /// memory is lost.
        case emptyBefore, emptyAfter

        var isEmpty: Bool { self == .emptyBefore || self == .emptyAfter }
        var isDeath: Bool { self == .killedBefore || self == .killedAfter }
    }

    /// The family, and whether the list already has a secret of the module.
    struct Case: CustomStringConvertible {
        let family: Family
        var isListed = false
        var description: String { "\(family.rawValue)\(isListed ? ", another secret" : "")" }
    }

    private static let cases = [
        Case(family: .comodule), Case(family: .comodule, isListed: true), Case(family: .lrdevice),
        Case(family: .lrdevice, isListed: true), Case(family: .mcumgr),
    ]

    @Test(arguments: Self.cases, Break.allCases)
    func `a vehicle is never locked out`(what: Case, fate: Break) throws {
        var struck = 0
        for number in 1... {
            let bench = try EnrolBench(what.family)
            let breaker = Breaker(fate, at: number)
            try bench.run { bench in
                if what.isListed {
                    _ = try await bench.enroller(Breaker(nil, at: 0)).enrol(rotating: false)
                }
                do throws(EnrolFault) {
                    _ = try await bench.enroller(breaker).enrol(rotating: what.isListed)
                } catch { #expect(breaker.hasStruck, "\(error)") }
                guard breaker.hasStruck else { return }
                try await bench.expectTrace("\(what), \(fate) at \(number)")
                _ = try await bench.enroller(Breaker(nil, at: 0)).enrol(rotating: false)
                try await bench.expectAgreement("\(what), \(fate) at \(number)")
            }
            guard breaker.hasStruck else { break }
            struck += 1
        }
        // A module with a bond instead of a secret has few exchanges.
        let least = what.family == .mcumgr ? 2 : 10
        #expect(struck > least, "\(struck) places were broken off at")
    }

    @Test(arguments: [Family.comodule, .lrdevice, .mcumgr], Break.allCases)
    func `a vehicle that leaves gets its first secret back`(family: Family, fate: Break) throws {
        for number in 1... {
            let bench = try EnrolBench(family)
            let breaker = Breaker(fate, at: number)
            try bench.run { bench in
                _ = try await bench.enroller(Breaker(nil, at: 0)).enrol(rotating: false)
                do throws(EnrolFault) {
                    try await bench.enroller(breaker).undo()
                } catch { #expect(breaker.hasStruck, "\(error)") }
                guard breaker.hasStruck else { return }
                try await bench.enroller(Breaker(nil, at: 0)).undo()
                try await bench.expectGone("\(family), \(fate) at \(number)")
            }
            guard breaker.hasStruck else { break }
        }
    }
}

/// One module in simulated air, and the files of its vehicle.
private final class EnrolBench: Sendable {
    let simulation = Simulation(seed: 7)
    let folder: Scratch
    let family: Family
    let profile: Profile
    let serial: Serial
    let vehicle: VehicleID
    private let journal = Mutex<Journal?>(nil)

    init(_ family: Family) throws {
        self.family = family
        folder = try Scratch()
        profile = try #require(ProfileLibrary.shipped.profile(Profile.generic, of: family))
        serial = try #require(
            Serial(family == .comodule ? "00a0000000000001" : "0a0b0c0d0e0f")
        )
        vehicle = try #require(VehicleID("bike-1"))
        try Data("id,serial,family,secret\n".utf8)
            .write(to: URL(filePath: folder.path + "/fleet.csv"))
    }

    var maker: Secret? {
        family == .comodule ? Secret(Array(String(repeating: "11", count: 20).utf8)) : nil
    }

    /// Whether the family has secrets; the last of the three families has a bond by passkey
    /// instead.
    private var hasSecret: Bool { FamilyRegistry.secrets(of: family) != nil }

    private static let pairing: Pairing = Passkey(12_345).map { .passkey($0) } ?? .justWorks

    private var bond: BondPolicy { hasSecret ? .unbonded : BondPolicy(Self.pairing) }

    var secretPath: String { folder.path + "/keys/bike-1.key" }

    func run(_ body: @escaping @Sendable (EnrolBench) async throws -> Void) throws {
        try simulation.run { () async -> Result<Void, any Error> in
            await self.simulation.air.addAdapter("hci0")
            await self.simulation.air.arrange { world in
                if self.family == .comodule {
                    var plan = ModulePlan(serial: self.serial)
                    plan.key = [UInt8](repeating: 0x11, count: 20)
                    world.add(plan)
                } else if self.hasSecret {
                    world.add(LRDevicePlan(serial: self.serial))
                } else {
                    var plan = SMPModulePlan(serial: self.serial)
                    plan.bond = AirSecurity.Plan(Self.pairing)
                    world.add(plan)
                }
            }
            do {
                let journal = try await Journal.inMemory(executor: self.simulation.worldLane)
                self.journal.withLock { $0 = journal }
                try await body(self)
                return .success(())
            } catch { return .failure(error) }
        }.get()
    }

    private var radio: SimulatedRadio { SimulatedRadio(adapter: "hci0", air: simulation.air) }

    /// A file that a command for real vehicles replaces.
    private func file(_ name: String) -> OutsideFile {
        Reach.real.own(folder.path + "/" + name)
    }

    func enroller(_ breaker: Breaker) -> Enroller {
        guard let journal = journal.withLock({ $0 }) else {
            preconditionFailure("the air is not up yet")
        }
        let files = EnrolmentFiles(
            vehicle,
            serial,
            fleet: file("fleet.csv"),
            cells: [
                ("id", vehicle.text), ("serial", serial.text), ("family", family.rawValue),
            ]
                + (hasSecret ? [("secret", "file:keys/bike-1.key")] : []),
            secrets: hasSecret ? SecretFiles(file("keys/bike-1.key"), maker: maker) : nil,
            family: family,
            journal: journal,
            time: simulation.time,
            lane: simulation.worldLane
        )
        return Enroller(
            EnrolTarget(vehicle: vehicle, serial: serial, profile: profile, bond: bond),
            keeper: BreakingKeeper(files: files, breaker: breaker),
            central: BreakingCentral(central: radio, breaker: breaker, power: power),
            time: simulation.time,
            searchingFor: .seconds(20),
            chance: {
                var source = SystemRandomNumberGenerator()
                return source.next()
            },
            unless: { false }
        )
    }

    /// Removes the module's battery and puts it back.
    private var power: @Sendable () async -> Void {
        let air = simulation.air
        return {
            await air.arrange { world in
                world.modules(ComoduleModule.self).forEach { $0.losePower() }
            }
        }
    }

    private func text(_ path: String) -> String? {
        try? String(contentsOfFile: folder.path + "/" + path, encoding: .utf8)
    }

    /// Whether the module currently accepts this secret.
    private func takes(_ secret: Secret) async throws -> Bool {
        let secrets = try #require(FamilyRegistry.secrets(of: family))
        for _ in 0..<3 {
            let opener = try FamilyRegistry.opener(of: family, secret)
            let found = try await ModuleSeeker(central: radio, time: simulation.time).seek(
                serial,
                by: opener.driver(profile).recogniser,
                before: simulation.time.now.advanced(by: .seconds(20)),
                unless: { false }
            )
            let link = try await radio.connect(
                to: try #require(found).peer,
                bond,
                before: simulation.time.now.advanced(by: .seconds(20))
            )
            do throws(ModuleError) {
                try await secrets.proves(
                    secret,
                    on: link,
                    profile,
                    simulation.time,
                    chance: { 5 }
                )
                await link.disconnect()
                return true
            } catch {
                // A single link that ends like this proves nothing.
                await link.disconnect()
            }
        }
        return false
    }

    private func stage() async throws -> EnrolmentRecord.Stage? {
        let journal = try #require(journal.withLock { $0 })
        return try await journal.enrolments().first?.stage
    }

    /// Checks that the module can be bonded with, and reports its version.
    private func expectOpen() async throws {
        let driver = try FamilyRegistry.opener(of: family, nil).driver(profile)
        let found = try await ModuleSeeker(central: radio, time: simulation.time).seek(
            serial,
            by: driver.recogniser,
            before: simulation.time.now.advanced(by: .seconds(20)),
            unless: { false }
        )
        let link = try await radio.connect(
            to: try #require(found).peer,
            bond,
            before: simulation.time.now.advanced(by: .seconds(20))
        )
        let application = try await driver.application(on: link, time: simulation.time)
        let order = UpdateOrder(serial: serial, parts: [])
        _ = try await application.inspect(order)
        await application.disconnect()
    }

    func expectAgreement(_ place: String) async throws {
        guard hasSecret else {
            try await expectOpen()
            #expect(try await stage() == .enrolled, "\(place)")
            #expect(
                text("fleet.csv") == "id,serial,family,secret\nbike-1,\(serial),mcumgr,\n",
                "\(place)"
            )
            #expect(text("keys/bike-1.key") == nil, "\(place)")
            return
        }
        let kept = try #require(text("keys/bike-1.key"), "\(place)")
        #expect(try await takes(Secret(Array(kept.utf8))), "\(place)")
        #expect(text("keys/bike-1.key.new") == nil, "\(place)")
        #expect(
            text("fleet.csv")
                == "id,serial,family,secret\nbike-1,\(serial),\(family.rawValue),file:keys/bike-1.key\n",
            "\(place)"
        )
        #expect(try await stage() == .enrolled, "\(place)")
        if let maker { #expect(try await !takes(maker), "\(place)") }
    }

    /// Checks that a module which refuses the secret in its file has a file of an open change.
    func expectTrace(_ place: String) async throws {
        guard hasSecret, let kept = text("keys/bike-1.key"), text("keys/bike-1.key.new") == nil
        else { return }
        #expect(try await takes(Secret(Array(kept.utf8))), "\(place)")
    }

    func expectGone(_ place: String) async throws {
        #expect(text("fleet.csv") == "id,serial,family,secret\n", "\(place)")
        #expect(text("keys/bike-1.key") == nil, "\(place)")
        #expect(try await stage() == .undone, "\(place)")
        if !hasSecret { try await expectOpen() }
        if let maker { #expect(try await takes(maker), "\(place)") }
        if let kept = text("keys/bike-1.key.undone") {
            #expect(try await !takes(Secret(Array(kept.utf8))), "\(place)")
        }
    }
}

/// Counts the acts of a process, and interrupts one of them.
private final class Breaker: Sendable {
    private struct State {
        var acts = 0
        var isOver = false
    }

    private let fate: EnrolInterruptionTests.Break?
    private let place: Int
    private let state = Mutex(State())

    init(_ fate: EnrolInterruptionTests.Break?, at place: Int) {
        self.fate = fate
        self.place = place
    }

    var hasStruck: Bool { state.withLock { $0.isOver } }
    private var isDead: Bool { hasStruck && fate?.isDeath ?? false }

    /// Whether the module loses its power.
    var isEmpty: Bool { fate?.isEmpty ?? false }

    enum Moment { case none, before, after }

    /// The interruption of the next act; acts on files are interrupted only by the end of our
    /// process.
    func next(isExchange: Bool) -> Moment {
        if isDead { return .before }
        return state.withLock { state in
            guard let fate, !state.isOver, isExchange || fate.isDeath else { return .none }
            state.acts += 1
            guard state.acts == place else { return .none }
            state.isOver = true
            let isBefore = [.killedBefore, .lostBefore, .emptyBefore].contains(fate)
            return isBefore ? .before : .after
        }
    }

    /// The error of an interrupted act.
    var error: RadioError { fate?.isDeath ?? false ? .cancelled : .linkLost }
}

private struct BreakingKeeper: EnrolmentKeeper {
    let files: EnrolmentFiles
    let breaker: Breaker

    private func act<R: Sendable>(
        _ body: () async throws(EnrolFault) -> R
    ) async throws(EnrolFault) -> R {
        let dead = EnrolFault(.failed, "killed", hint: "")
        let moment = breaker.next(isExchange: false)
        if moment == .before { throw dead }
        let result = try await body()
        if moment == .after { throw dead }
        return result
    }

    func secrets() async throws(EnrolFault) -> [SecretSlot: Secret] {
        try await act { () async throws(EnrolFault) in try await files.secrets() }
    }

    func keepPending(_ secret: Secret) async throws(EnrolFault) {
        try await act { () async throws(EnrolFault) in try await files.keepPending(secret) }
    }

    func commit() async throws(EnrolFault) {
        try await act { () async throws(EnrolFault) in try await files.commit() }
    }

    func retire() async throws(EnrolFault) {
        try await act { () async throws(EnrolFault) in try await files.retire() }
    }

    func list(_ isListed: Bool) async throws(EnrolFault) {
        try await act { () async throws(EnrolFault) in try await files.list(isListed) }
    }

    func note(_ stage: EnrolmentRecord.Stage) async throws(EnrolFault) {
        try await act { () async throws(EnrolFault) in try await files.note(stage) }
    }
}

private struct BreakingCentral: Central {
    let central: any Central
    let breaker: Breaker
    let power: @Sendable () async -> Void

    var adapter: String { central.adapter }

    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        try await central.withScan(filter, body)
    }

    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link {
        let moment = breaker.next(isExchange: true)
        if moment == .before {
            if breaker.isEmpty { await power() }
            throw breaker.error
        }
        let link = try await central.connect(to: peer, policy, before: deadline)
        if moment == .after {
            if breaker.isEmpty { await power() }
            await link.disconnect()
            throw breaker.error
        }
        return BreakingLink(link: link, breaker: breaker, power: power)
    }

    func forget(_ peer: Peer) async { await central.forget(peer) }
}

private final class BreakingLink: Link {
    let link: any Link
    let breaker: Breaker
    private let power: @Sendable () async -> Void

    init(link: any Link, breaker: Breaker, power: @escaping @Sendable () async -> Void) {
        self.link = link
        self.breaker = breaker
        self.power = power
    }

    var peer: Peer { link.peer }
    var maximumLength: Int { link.maximumLength }

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? {
        link.flags(of: characteristic)
    }

    fileprivate func exchange<R: Sendable>(
        _ body: () async throws(RadioError) -> R
    ) async throws(RadioError) -> R {
        let moment = breaker.next(isExchange: true)
        if moment == .before {
            if breaker.isEmpty { await power() }
            await link.disconnect()
            throw breaker.error
        }
        let result = try await body()
        if moment == .after {
            if breaker.isEmpty { await power() }
            await link.disconnect()
            throw breaker.error
        }
        return result
    }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] {
        try await exchange { () async throws(RadioError) in
            try await link.read(characteristic, before: deadline)
        }
    }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {
        try await exchange { () async throws(RadioError) in
            try await link.write(bytes, to: characteristic, before: deadline)
        }
    }

    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {
        try await exchange { () async throws(RadioError) in
            try await link.send(bytes, to: characteristic)
        }
    }

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription {
        let subscription = try await exchange { () async throws(RadioError) in
            try await link.subscribe(to: characteristic, before: deadline)
        }
        return BreakingSubscription(subscription: subscription, link: self)
    }

    func disconnect() async { await link.disconnect() }
}

private struct BreakingSubscription: Subscription {
    let subscription: any Subscription
    let link: BreakingLink

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] {
        try await link.exchange { () async throws(RadioError) in
            try await subscription.next(before: deadline)
        }
    }
}
