import Base
import Families
import Foundation
import Manifest
import Operations
import Radio
import Rollout
import Samples
import Simulation
import Store
import Synchronization

/// The depot of a story: its file, manifests, images and keys.
struct NightDepot {
    struct Mistake: Error, CustomStringConvertible { let description: String }

    let story: NightStory
    /// The key files; nil where all vehicles keep the keys of the depot's file.
    var keys: NightKeys?

    // MARK: Names

    static func name(_ vehicle: Int) -> String { "v\(vehicle + 1)" }

    /// The serial of a module, or of the GO device of a vehicle without one.
    ///
    /// The first modules have the numbers of their vehicles, and their spares follow.
    func serial(_ module: Int) -> String {
        switch story.vehicles[module % story.vehicles.count].kind {
        case .bike, .van: "00a000000000" + Self.four(module + 1)
        case .lock: "0a0b0c0d0e" + Self.two(module + 1)
        case .car: device(module)
        case .light: "light-\(Self.four(module + 1))"
        case .tag, .oldTag: "tag-\(Self.four(module + 1))"
        case .sensor: "esp-\(Self.four(module + 1))"
        }
    }

    /// A vehicle as its list has it.
    func listed(_ vehicle: Int, _ ids: NightNames) throws -> ListedVehicle {
        guard let id = VehicleID(ids.listed[vehicle]),
            let serial = Serial(serial(ids.modules[vehicle]))
        else {
            throw Mistake(description: "no id or serial")
        }
        return ListedVehicle(id, serial)
    }

    /// The serial of the vehicle's GO device.
    func device(_ vehicle: Int) -> String { "G9-\(vehicle + 1)" }

    /// The vehicles by the serials that their modules and devices have in the air.
    func numbers(_ ids: NightNames) -> [String: Int] {
        var numbers: [String: Int] = [:]
        for number in story.vehicles.indices {
            var names = [serial(ids.modules[number])]
            if story.vehicles[number].kind == .van { names.append(device(number)) }
            // In the form in which modules write serials.
            for name in names { numbers[Serial(name)?.text ?? name] = number }
        }
        return numbers
    }

    private func hardware(_ vehicle: Int) -> UInt32 { UInt32(1_000 + vehicle) }

    private static func two(_ number: Int) -> String { Hex.text([UInt8(number)]) }
    private static func four(_ number: Int) -> String { Hex.text(UInt16(number).bigBytes) }

    static func family(_ kind: NightStory.Kind) -> Family {
        switch kind {
        case .bike, .van: .comodule
        case .lock: .lrdevice
        case .car: .geotabGo
        case .light: .mcumgr
        case .tag, .oldTag: .nordic
        case .sensor: .esp
        }
    }

    // MARK: The depot's file

    static let key = String(repeating: "11", count: 20)
    private static let sealing = String(repeating: "42", count: 32)
    private static let password = "5F7B2C0A-1111-2222-3333-444455556666"

    /// The depot's file, with the first state of every simulated module.
    func file(adapters: [String]? = nil) throws -> DepotFile {
        var text = "name: nights\nseed: 1\nadapters: ["
        let names = adapters ?? (0..<story.policy.adapters).map { "hci\($0)" }
        text += names.joined(separator: ", ")
        text += "]\n"
        if let links = story.policy.steadyLinks { text += "steady-links: \(links)\n" }
        text += "tenant-keys: [\"\(Hex.text(try Self.issuer().modulus))\"]\nmodules:\n"
        let spares = story.refits.map { ($0 + story.vehicles.count, $0) }
        for (number, index) in story.vehicles.indices.map({ ($0, $0) }) + spares {
            let vehicle = story.vehicles[index]
            var faults = vehicle.faults.map { "{\($0)}" }.joined(separator: ", ")
            if number != index { faults = "" }
            if !faults.isEmpty { faults = ", faults: [\(faults)]" }
            text += "  - {serial: \"\(serial(number))\", "
            switch vehicle.kind {
            case .bike, .van:
                text += "key: \"\(Self.key)\", type: 17, version: \"4.11.3\"\(faults)}\n"
            case .lock:
                text += "family: lrdevice, key: \"\(Self.sealing)\", "
                text += "password: \(Self.password)\(faults)}\n"
            case .car:
                text += "family: geotab-go, hardware-id: \(hardware(number))\(faults)}\n"
            case .light:
                let erase = story.policy.erasesSilently == true ? "20ms, erases-first: true" : "2ms"
                text += "family: mcumgr, version: \"1.0.0\", erase-time: \(erase)\(faults)}\n"
            case .tag:
                text += "family: nordic, version: \"4.11.0\"\(faults)}\n"
            case .oldTag:
                text += "family: nordic, bootloader: legacy-dfu, version: \"4.11.0\"\(faults)}\n"
            case .sensor:
                text += "family: esp, version: \"2.6.0\"\(faults)}\n"
            }
            if vehicle.kind == .van, number == index {
                text += "  - {serial: \"\(device(number))\", family: geotab-go, "
                text += "hardware-id: \(hardware(number))}\n"
            }
        }
        return try Self.parsed(text)
    }

    /// Reads a depot's file.
    static func parsed(_ text: String) throws -> DepotFile {
        let diagnostics = Diagnostics()
        guard let tree = SourceNode.parse(Array(text.utf8), file: "depot.yaml", diagnostics),
            let file = DepotFile.read(
                tree,
                families: FamilyRegistry.simulated,
                profiles: ProfileLibrary.shipped,
                diagnostics
            )
        else { throw Mistake(description: "\(diagnostics.list)\n\(text)") }
        return file
    }

    // MARK: Manifests

    /// The plan according to the current files.
    func plan(_ wish: NightWish) throws -> FrozenPlan {
        let text = manifest(wish)
        let fleet = fleet(wish)
        let read = try ManifestReader.read(
            Array(text.utf8),
            path: keys?.manifest ?? "manifest.yaml",
            files: { (path, _) throws(FileError) in
                path.hasSuffix("fleet.csv") ? Array(fleet.utf8) : Array("x".utf8)
            }
        )
        guard let plan = read.plan, JobBuilder(plan).mistakes.isEmpty else {
            let mistakes = read.plan.map { JobBuilder($0).mistakes } ?? []
            throw Mistake(description: "\(read.diagnostics + mistakes)\n\(text)\n\(fleet)")
        }
        return plan
    }

    private func manifest(_ wish: NightWish) -> String {
        let policy = story.policy
        var text = "name: \(wish.name)\nvehicles: {from: fleet.csv}\n"
        let kinds = wish.listed.filter { wish.steps[$0].contains(.update) }
            .map { story.vehicles[$0].kind }
        if !kinds.isEmpty { text += "images:\n" }
        for image in NightImage.all where kinds.contains(where: { image.fits($0) }) {
            let version = image.version(wish.release)
            text += "  \(image.name):\n    url: file:\(image.name)\n"
            text += "    sha256: \"\(image.digest(wish.release))\"\n"
            text += "    version: \"\(version)\"\n"
            text += "    fits: {family: \(image.family.rawValue)\(image.hardware)}\n"
        }
        let denied = Self.denied(wish).map { "\"\($0)\"" }.sorted()
        if !denied.isEmpty { text += "trust: {deny: [\(denied.joined(separator: ", "))]}\n" }
        text += "steps: [{wait: 1s}]\n"
        let always = always(wish).map { words($0, .van) }
        if !always.isEmpty { text += "always: [\(always.joined(separator: ", "))]\n" }
        text += "rollout:\n"
        text += "  waves: [\((policy.waves.map { "\($0)" } + ["rest"]).joined(separator: ", "))]\n"
        text += "  again: \(policy.again)\n"
        text += "  retry: {transient: \(policy.transient), device: \(policy.device)}\n"
        if let gate = policy.gate {
            text += "  pause-when: {failed: \(gate), at-least: 1"
            text += "\(policy.aborts ? ", then: abort" : "")}\n"
        }
        let between = [
            policy.soak.map { "soak: \($0)s" }, policy.checks == true ? "check: [look]" : nil,
            policy.asks ? "ask: true" : nil,
        ].compactMap { $0 }
        if !between.isEmpty {
            text += "  between-waves: {\(between.joined(separator: ", "))}\n"
        }
        if let window = policy.window { text += "  window: \(window.text)\n" }
        if let airtime = policy.airtime { text += "  airtime: {vehicle: \(airtime)s}\n" }
        if let limit = policy.quarantine { text += "  quarantine-after: \(limit)\n" }
        text += "radio: {links-per-adapter: \(policy.links), take-turns: \(policy.takesTurns)}\n"
        return text
    }

    /// The images that the manifest denies; the last release has no newer images.
    private static func denied(_ wish: NightWish) -> Set<SHA256Digest> {
        let now = NightImage.all.map { $0.digest(wish.release) }
        let all = wish.denied.flatMap { release in NightImage.all.map { $0.digest(release) } }
        return Set(all).subtracting(now)
    }

    /// The steps of `always` that all listed vehicles can do.
    func always(_ wish: NightWish?) -> [NightStory.Step] {
        guard let wish else { return [] }
        return story.policy.always.filter { step in
            wish.listed.allSatisfy { step.suits(story.vehicles[$0].kind) }
        }
    }

    func fleet(_ wish: NightWish) -> String {
        var text = "id,serial,family,profile,secret,token,go-serial,steps\n"
        for number in wish.listed {
            let kind = story.vehicles[number].kind
            let steps = wish.steps[number].map { words($0, kind) }.joined(separator: ", ")
            let secret =
                switch kind {
                case .bike, .van, .lock, .car: wish.secrets[number]
                case .light, .tag, .oldTag, .sensor: ""
                }
            let token = kind == .van ? "file:token,\(device(number))" : ","
            text += "\(wish.ids.listed[number]),\(serial(wish.ids.modules[number])),"
            text += "\(Self.family(kind).rawValue),"
            text += "\(kind == .oldTag ? "legacy" : ""),\(secret),\(token),"
            text += "\"" + "[\(steps)]".replacing("\"", with: "\"\"") + "\"\n"
        }
        return text
    }

    /// A step in the form of a manifest.
    func words(_ step: NightStory.Step, _ kind: NightStory.Kind) -> String {
        switch step {
        case .require(let otherwise): "{require: {speed: \"== 0\"}, otherwise: \(otherwise)}"
        case .update where story.policy.judge != nil:
            "{update: {to: \(NightImage.of(kind)?.name ?? "none"), judge: [ask], within: 20s}}"
        case .update: "{update: \(NightImage.of(kind)?.name ?? "none")}"
        case .lights(let value): "{set: {lights: \(value)}}"
        case .command(let words): "{command: [\(words.joined(separator: ", "))]}"
        case .feature(let name, let value): "{feature: {\(name): \(value)}}"
        case .expect(let name, let condition): "{expect: {\(name): \"\(condition)\"}}"
        case .read(let name): "{read: \(name)}"
        case .wait(let seconds): "{wait: \(seconds)s}"
        }
    }

    /// A step in the form that a person types.
    func order(_ step: NightStory.Step, _ kind: NightStory.Kind) -> String {
        switch step {
        case .update: "update \(NightImage.of(kind)?.name ?? "none")"
        case .lights(let value): "set lights=\(value)"
        case .command(let words): "command \(words.joined(separator: ","))"
        case .feature(let name, let value): "feature \(name)=\(value)"
        case .read(let name): "read \(name)"
        case .wait(let seconds): "wait \(seconds)s"
        case .require, .expect: "wait 1s"
        }
    }

    // MARK: Secrets

    private static let tokens = Mutex<[UInt32: String]>([:])

    private static func issuer() throws -> GOTokenIssuer {
        guard
            let issuer = GOTokenIssuer(tenant: Keys.tenant, reservation: Keys.reservation)
        else { throw Mistake(description: "the keys of the tests are none") }
        return issuer
    }

    /// Signing a token costs more than a night, so each token is made once.
    private func token(_ vehicle: Int) throws -> CarShareCredentials {
        let number = hardware(vehicle)
        var text = Self.tokens.withLock { $0[number] }
        if text == nil {
            let year = Duration.seconds(366 * 86_400)
            let reservation = try Self.issuer().reservation(
                hardwareID: number,
                from: Simulation.firstEvening.advanced(by: .zero - year),
                until: Simulation.firstEvening.advanced(by: year)
            )
            text = try Self.issuer().token(reservation)?.withBytes {
                String(decoding: $0, as: UTF8.self)
            }
            Self.tokens.withLock { $0[number] = text }
        }
        guard let text else { throw Mistake(description: "no token can be signed") }
        return try CarShareCredentials(text: Secret(Array(text.utf8)))
    }

    /// The credentials for a vehicle of a plan.
    func access(_ vehicle: Int, in plan: FrozenPlan) throws -> VehicleAccess {
        let kind = story.vehicles[vehicle].kind
        var secret: String? =
            switch kind {
            case .bike, .van: Self.key
            case .lock: "\(Self.sealing):\(Self.password)"
            case .car, .light, .tag, .oldTag, .sensor: nil
            }
        var keeper: FileSecret?
        let planned = plan.vehicles.first { $0.id.text == Self.name(vehicle) }
        if keys != nil, kind.isComodule, let planned, case .file(let file)? = planned.secret {
            secret = try String(contentsOfFile: file.path, encoding: .utf8)
            let shared = SharedSecrets(plan.holders, credentials: nil)
            keeper = try NightKeys.reach().file(file.path).map {
                FileSecret($0, sharedWith: shared.others(than: planned.id, at: file.path))
            }
        }
        return VehicleAccess(
            module: try FamilyRegistry.opener(
                of: Self.family(kind),
                secret.map { Secret(Array($0.utf8)) }
            ),
            carShare: kind.hasCommands ? TokenSupply(try token(vehicle)) : nil,
            secrets: keeper
        )
    }
}

/// The current contents of the manifest.
struct NightWish: Equatable {
    var name = "yard"
    /// What the vehicles are called.
    var ids: NightNames
    /// The vehicles in the fleet list.
    var listed: [Int]
    /// The steps of every vehicle, listed or not.
    var steps: [[NightStory.Step]]
    /// The reference to the secret of each vehicle that has one.
    var secrets: [String]
    /// The vehicles that drive, and those that are out of reach.
    var driving: Set<Int> = []
    var away: Set<Int> = []
    /// The number of the release, from 0; each release has newer images.
    var release = 0
    /// The releases whose images are denied.
    var denied: Set<Int> = []

    /// What `secrets rotate` does: nothing but new keys, for these vehicles.
    func rotating(_ plan: FrozenPlan) -> NightWish {
        var wish = self
        wish.name = plan.name
        wish.listed = plan.vehicles.compactMap { ids.number($0.id) }
        wish.steps = steps.map { _ in [] }
        return wish
    }

    init(_ story: NightStory) {
        ids = NightNames(story.vehicles.count)
        listed = story.vehicles.indices.filter { story.vehicles[$0].isListed }
        if listed.isEmpty { listed = [0] }
        steps = story.vehicles.map(\.steps)
        secrets = story.vehicles.enumerated().map { number, vehicle in
            switch story.policy.keys {
            case nil: "file:key"
            // Only modules of this family get other keys.
            case _? where !vehicle.kind.isComodule: "credential:key"
            case .own?: "file:keys/\(NightDepot.name(number)).key"
            case .shared?: "file:keys/shared.key"
            }
        }
    }
}
