import Foundation
import Glibc
import Signers
import Synchronization
import Testing
import Workbench

/// A depot of many vehicles that gets two nights' data from a USB stick, beside one with a network.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OfflineDepotTests {
    private static let office = MinisignSigner(2)
    private static let maker = MinisignSigner(1)

    /// One release of the office: only the bicycles' image changes from night to night.
    private struct Night {
        let image: String
        let digest: String
        let version: String
        let trust: String
    }

    private static let nights = [
        Night(
            image: "city-4.12.0.zip",
            digest: TrustedDepot.digest,
            version: "4.12.0",
            trust: "tuf: {repository: vendor, target: bikes/city.zip}"
        ),
        Night(
            image: "city-4.13.0.zip",
            digest: "940ee3f5d9a2f69758fc597633bcefdea073cd4bef89b9fad226ce5d117493b5",
            version: "4.13.0",
            trust: "signature: {key: keys/maker.pub}"
        ),
    ]

    /// The number of vehicles in the depot; `scripts/soak-images offline` uses 200.
    private static let vehicles =
        ProcessInfo.processInfo.environment["YARDMASTER_OFFLINE_VEHICLES"].flatMap { Int($0) } ?? 20
    private static let cargo = vehicles * 15 / 100
    private static let tags = vehicles / 20
    private static let bikes = vehicles - cargo - tags
    private static let unreachable = 2

    private static func serial(_ bike: Int) -> String {
        "00d00000000000" + String(format: "%02x", bike)
    }

    private static let secret = "00112233445566778899aabbccddeeff00112233"

    /// One in twenty bicycles loses its link in the middle of the image, and the last two are away.
    private static var depot: String {
        let lost = max(1, bikes / 20)
        let plain = bikes - lost - unreachable
        func bicycles(_ first: Int, _ count: Int, _ more: String = "") -> String {
            """
              - {serial: "\(serial(first))", count: \(count), key: "\(secret)", type: 17,
                 version: "4.11.3"\(more)}

            """
        }
        let tags = (1...tags).map { number in
            "  - {serial: tag-00\(String(format: "%02d", number)), family: nordic, "
                + "bootloader: legacy-dfu, version: \"1.4.0\"}\n"
        }
        return """
            name: tallinn
            seed: 16
            image-capacity: 256KiB
            link: {interval: 15ms, mtu: 247, phy: 2M, data-length: 251, packets-per-interval: 6}
            modules:
              - {serial: ym-0001, family: mcumgr, count: \(cargo)}

            """ + bicycles(1, plain)
                + bicycles(plain + 1, lost, ", faults: [{link-lost-at: 40KiB}]")
                + bicycles(plain + lost + 1, unreachable, ", out-of-reach: true") + tags.joined()
    }

    /// The outcome of each vehicle.
    private typealias Verdicts = [String: String]

    /// A web server with files from a folder, which can stop answering.
    private final class WebServer {
        private final class Switch: Sendable {
            let isOn = Mutex(true)
        }

        let server: HostileServer
        private let power = Switch()

        init(_ folder: String) throws {
            server = try HostileServer { [power] request, connection in
                guard power.isOn.withLock({ $0 }) else { return }
                let file = URL(filePath: folder + request.path)
                if let bytes = try? Data(contentsOf: file) {
                    connection.serve(Array(bytes), to: request)
                } else {
                    connection.answer("404 Not Found")
                }
            }
        }

        func set(_ isOn: Bool) { power.isOn.withLock { $0 = isOn } }
    }

    private let depot: TrustedDepot
    private let web: WebServer
    private var program: Program { depot.program }
    private var folder: String { program.folder.path }

    init() throws {
        depot = try TrustedDepot()
        web = try WebServer(depot.program.folder.path + "/web")
        let files = FileManager.default
        for name in ["web", "office", "office/keys", "office/profiles", "stick"] {
            try files.createDirectory(
                atPath: folder + "/" + name,
                withIntermediateDirectories: false
            )
        }
        for (path, name) in [
            ("demo/city-4.12.0.zip", nil), ("night/city-4.13.0.zip", "4.13"),
            ("depot-wide/tracker-2.0.0.img", "2.0"), ("tags/tag-2.0.0.zip", "2.0"),
        ] {
            let file = Program.repository.appending(path: "manifests/" + path)
            let bytes = try Data(contentsOf: file)
            try program.write("web/" + file.lastPathComponent, bytes)
            guard let name else { continue }
            let signature = Self.maker.sign(Array(bytes), comment: "counter:1 version:\(name).0")
            try program.write("web/\(file.lastPathComponent).minisig", Data(signature))
        }
        try depot.serve("good", at: "web/metadata")
        try files.copyItem(atPath: folder + "/root.json", toPath: folder + "/office/root.json")
        try program.write("office/keys/maker.pub", Self.maker.publicText)
        try program.write("office.pub", Self.office.publicText)
        try files.copyItem(
            at: Program.repository.appending(
                path: "Sources/Families/Comodule/Profiles/comodule-ebike-display.yaml"
            ),
            to: URL(filePath: folder + "/office/profiles/comodule-ebike-display.yaml")
        )
        try program.write("depot.yaml", Self.depot)
        try program.write("office/depot.key", Self.secret + "\n")
        var fleet = "id,serial,family,profile,secret,steps\n"
        for number in 1...Self.bikes {
            fleet += "bike-\(number),\(Self.serial(number)),comodule,,file:depot.key,\n"
        }
        for number in 1...Self.cargo {
            let serial = "ym-00" + String(format: "%02d", number)
            fleet += "cargo-\(number),\(serial),mcumgr,,,update: tracker\n"
        }
        for number in 1...Self.tags {
            let serial = "tag-00" + String(format: "%02d", number)
            fleet += "tag-\(number),\(serial),nordic,legacy,,update: tag\n"
        }
        try program.write("office/fleet.csv", fleet)
    }

    private func manifest(_ night: Night) throws {
        let url = web.server.url("")
        try program.write(
            "office/tallinn.yaml",
            """
            name: tallinn
            profiles: profiles
            vehicles: {from: fleet.csv}
            trust:
              repositories:
                vendor: {root: root.json, metadata: '\(url)/metadata', allow-http: true, grace: 3d}
            images:
              city:
                url: \(url)/\(night.image)
                allow-http: true
                sha256: "\(night.digest)"
                version: "\(night.version)"
                fits: {family: comodule, type: 17, variant: 0}
                \(night.trust)
              tracker:
                url: \(url)/tracker-2.0.0.img
                allow-http: true
                sha256: "1736373daae02421d056c32c6071fa6b5584723ae6f54374b768769af027846d"
                version: "2.0.0"
                fits: {family: mcumgr}
                signature: {key: keys/maker.pub}
              tag:
                url: \(url)/tag-2.0.0.zip
                allow-http: true
                sha256: "34bda3a6c327c3ef2b18a32e2ecc9f3bede7837821cfb8483f0ddb43bbb1ab96"
                version: "2.0.0"
                fits: {family: nordic}
                signature: {key: keys/maker.pub}
            steps:
              - update: {to: city}
            connect: {timeout: 20s, attempts: 2}

            """
        )
    }

    /// Makes one bundle on the stick, signed by the office.
    private func bundle(_ name: String, _ more: String...) throws {
        let result = try program.run(
            ["bundle", "create", "office/tallinn.yaml", "stick/\(name)", "--state", "there"] + more
        )
        #expect(result.status == 0, "\(result.errors)")
        let bytes = try Data(contentsOf: URL(filePath: "\(folder)/stick/\(name)"))
        try program.write("stick/\(name).minisig", Data(Self.office.sign(Array(bytes))))
    }

    private func run(_ manifest: String, _ state: String, _ night: Int) throws -> Verdicts {
        let events = "\(state)-\(night).jsonl"
        let result = try program.run([
            "run", manifest, "--simulate", "depot.yaml", "--state", state, "--events", events,
            "--quiet",
        ])
        // Two bicycles are out of reach.
        #expect(result.status == 11, "\(result.errors)")
        var verdicts: Verdicts = [:]
        let text = try String(contentsOfFile: folder + "/" + events, encoding: .utf8)
        for line in text.split(separator: "\n") where line.contains("\"vehicle-ended\"") {
            let fields = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let event = try #require(fields as? [String: Any])
            let vehicle = try #require(event["vehicle"] as? String)
            verdicts[vehicle] =
                "\(event["outcome"] ?? "?") \(event["version_after"] ?? "?") "
                + "\(event["message"] ?? "")"
        }
        return verdicts
    }

    private func size(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)
        return try #require(attributes[.size] as? Int)
    }

    @Test func `two nights on a stick end as two nights with a network do`() throws {
        let begun = try program.run([
            "trust", "--metadata-dir", "here/trust/repository-vendor", "init", "root.json",
        ])
        #expect(begun.status == 0, "\(begun.errors)")
        for (number, night) in Self.nights.enumerated() {
            try manifest(night)
            web.set(true)
            let bundle = "night-\(number).bundle"
            if number == 0 {
                try self.bundle(bundle)
            } else {
                try self.bundle(bundle, "--since", "stick/night-0.bundle")
            }
            let online = try run("office/tallinn.yaml", "online", number)
            #expect(online.count == Self.vehicles)

            web.set(false)
            let asked = web.server.seen.count
            let applied = try program.run([
                "bundle", "apply", "--key", "office.pub", "--target-dir", "rollouts",
                "stick/\(bundle)", "--state", "here",
            ])
            #expect(applied.status == 0, "\(applied.errors)")
            #expect(web.server.seen.count == asked)
            let link = folder + "/rollouts/tallinn"
            if number == 0 {
                // Secrets are brought separately, once.
                try FileManager.default.copyItem(
                    atPath: folder + "/office/depot.key",
                    toPath: link + "/depot.key"
                )
            }
            for name in ["fleet.csv", "root.json", "keys/maker.pub", "profiles"] {
                #expect(FileManager.default.fileExists(atPath: "\(link)/\(name)"), "\(name)")
            }
            let offline = try run("rollouts/tallinn/tallinn.yaml", "here", number)
            #expect(offline == online)
            // On the second night only the bicycles get a new image.
            let updated = (number == 0 ? Self.vehicles : Self.bikes) - Self.unreachable
            #expect(offline.values.count { $0.hasPrefix("succeeded") } == updated)
            // The server has not answered, and no image or signature was requested.
            let since = web.server.seen.dropFirst(asked).map(\.path)
            #expect(since.allSatisfy { $0.hasPrefix("/metadata/") }, "\(since)")
        }
        let (first, second) = try (size("stick/night-0.bundle"), size("stick/night-1.bundle"))
        let held = try size("web/tracker-2.0.0.img") + size("web/tag-2.0.0.zip")
        let images = try (size("web/city-4.12.0.zip"), size("web/city-4.13.0.zip"))
        #expect(second < first - images.0 - held + images.1 + 1_000, "\(first) \(second)")
    }
}
