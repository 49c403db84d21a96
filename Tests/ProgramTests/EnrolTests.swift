import Foundation
import Testing

/// `enrol` from the shell: a whole pallet, single vehicles, and removal.
@Suite(.serialized, .timeLimit(.minutes(3))) struct EnrolTests {
    private static let maker = "d0c5000000000000000000000000000000000001"

    private let program: Program

    init() throws {
        program = try Program()
        try program.write("maker.key", Self.maker + "\n")
        try program.write("fleet.csv", "id,serial,family,depot,secret\n", mode: 0o640)
        try program.write(
            "depot.yaml",
            """
            name: pallet
            seed: 5
            modules:
              - {serial: "00a0000000000001", count: 30, key: "\(Self.maker)", type: 17,
                 version: "4.11.3"}
              - {serial: "5a000000000a", family: lrdevice, signal: -40}

            """
        )
        try program.write(
            "yard.yaml",
            """
            name: pallet-4.12
            vehicles: {from: fleet.csv, select: {depot: tallinn-1}}
            images:
              city-4.12:
                url: file:city-4.12.0.zip
                sha256: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
                version: "4.12.0"
                fits: {family: comodule, type: 17, variant: 0}
            steps:
              - update: {to: city-4.12}
            settle: {quiet: 2s, confirm-gap: 200ms, deadline: 2m}

            """
        )
    }

    private func enrol(_ more: String...) throws -> Program.Result { try enrol(more) }

    private func enrol(_ more: [String]) throws -> Program.Result {
        try program.run(
            [
                "enrol", "--list", "fleet.csv", "--state", program.state, "--simulate",
                "depot.yaml",
            ] + more
        )
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: program.rehearsed(name), encoding: .utf8)
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: program.rehearsed(name))[
            .posixPermissions
        ] as? Int
    }

    private static let one = ["--serial", "00a0000000000001", "--old-secret", "file:maker.key"]

    @Test func `a secret becomes a credential of the service manager, and is changed there`() throws
    {
        let folder = program.folder.path + "/credentials"
        let more = ["--credentials", folder, "bike-1"]
        let enrolled = try enrol(Self.one + more)
        #expect(enrolled.status == 0, "\(enrolled.output)\(enrolled.errors)")
        #expect(
            try text("fleet.csv").contains("bike-1,00a0000000000001,comodule,,credential:bike-1")
        )
        func credential(_ ending: String = "") throws -> String {
            let path = program.state + "/rehearsed/credentials/bike-1" + ending
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            return try String(contentsOfFile: path, encoding: .utf8)
        }
        let first = try credential()
        #expect(first.count == 41 && first != Self.maker + "\n")
        // The list alone does not state the folder of the credential.
        let lost = try enrol(["--rotate", "bike-1"])
        #expect(lost.status == 78 && lost.errors.contains("--credentials DIR"), "\(lost.errors)")
        #expect(try enrol(["--rotate"] + more).status == 0)
        #expect(try credential(".before") == first)
        #expect(try credential() != first)
        // A run that the service manager starts uses the credential to open the module.
        try program.write(
            "all.yaml",
            "name: all\nvehicles: {from: fleet.csv}\nsteps: [{read: speed}]\n"
        )
        let read = try program.run(
            [
                "exec", "--manifest", "all.yaml", "--simulate", "depot.yaml", "--state",
                program.state, "bike-1", "read speed",
            ],
            environment: ["CREDENTIALS_DIRECTORY": folder]
        )
        #expect(read.status == 0, "\(read.output)\(read.errors)")
    }

    @Test func `a program of the operator's gets each secret, and again after it has failed`()
        throws
    {
        let taker = program.folder.path + "/take"
        try program.write(
            "take",
            """
            #!/bin/sh
            test -e \(program.folder.path)/vault || exit 3
            read -r secret
            echo "$1 $2 $secret" >>\(program.folder.path)/vault/all

            """,
            mode: 0o755
        )
        let more = Self.one + ["--hand-to", taker, "bike-1"]
        let served = try ServedDepot("depot.yaml", of: program)
        defer { withExtendedLifetime(served) {} }
        func enrol(_ more: [String]) throws -> Program.Result {
            try program.run(
                [
                    "enrol", "--list", "fleet.csv", "--state", program.state, "--bus",
                    served.address,
                ] + more
            )
        }
        let failed = try enrol(more)
        #expect(failed.status == 10)
        #expect(
            failed.output.contains("did not take the secret: it ended with 3"),
            "\(failed.output)"
        )
        // Nothing is lost: the vehicle has the secret of its file.
        let secret = try text("keys/bike-1.key")
        try FileManager.default.createDirectory(
            atPath: program.folder.path + "/vault",
            withIntermediateDirectories: true
        )
        #expect(try enrol(more).status == 0)
        #expect(try text("keys/bike-1.key") == secret, "enrolled is enrolled")
        #expect(try text("vault/all") == "bike-1 00a0000000000001 " + secret)
    }

    @Test func `a pallet of 30 is enrolled by one command, updated and inventoried`() throws {
        let rows = (1...30).map { number in
            let digits = String(number, radix: 16)
            let serial = "00a0" + String(repeating: "0", count: 12 - digits.count) + digits
            return
                "bike-\(number < 10 ? "0" : "")\(number),\(serial),comodule,tallinn-1,file:maker.key\n"
        }
        try program.write("pallet.csv", "id,serial,family,depot,old-secret\n" + rows.joined())
        let enrolled = try enrol("--batch", "pallet.csv")
        #expect(enrolled.status == 0, "\(enrolled.output)\(enrolled.errors)")
        #expect(enrolled.output.split(separator: "\n").count == 30)
        #expect(!enrolled.output.contains(Self.maker))
        let list = try text("fleet.csv").split(separator: "\n")
        #expect(list.count == 31)
        #expect(
            list.last == "bike-30,00a000000000001e,comodule,tallinn-1,file:keys/bike-30.key"
        )
        #expect(try mode("keys/bike-30.key") == 0o600)
        let keys = try (1...30).map { try text("keys/bike-\($0 < 10 ? "0" : "")\($0).key") }
        #expect(Set(keys).count == 30 && !keys.contains(Self.maker + "\n"))
        #expect(keys.allSatisfy { $0.count == 41 })

        let image = Program.repository.appending(path: "manifests/demo/city-4.12.0.zip")
        try program.write("city-4.12.0.zip", Data(contentsOf: image))
        func yard() throws -> Program.Result {
            try program.run([
                "inventory", "--manifest", "yard.yaml", "--state", program.state, "--simulate",
                "depot.yaml",
            ])
        }
        let before = try yard()
        #expect(before.status == 0, "\(before.errors)")
        #expect(before.errors == "30 vehicles, 30 not as the manifest has them\n")
        let run = try program.run([
            "run", "yard.yaml", "--state", program.state, "--simulate", "depot.yaml", "--quiet",
        ])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let after = try yard()
        #expect(after.errors == "30 vehicles\n", "\(after.output)")
    }

    @Test func `given again nothing changes, rotated it has another secret, undone the first`()
        throws
    {
        let serial = ["--serial", "00a0000000000002", "--old-secret", "file:maker.key", "bike-2"]
        func run(_ line: [String]) throws -> Program.Result {
            try program.run(
                [
                    "enrol", "--list", "fleet.csv", "--state", program.state, "--simulate",
                    "depot.yaml",
                ] + line
            )
        }
        let first = try run(serial)
        #expect(first.status == 0, "\(first.output)\(first.errors)")
        let key = try text("keys/bike-2.key")
        let list = try text("fleet.csv")
        let again = try run(serial)
        #expect(again.status == 0, "\(again.output)")
        #expect(try text("keys/bike-2.key") == key && text("fleet.csv") == list)
        let rotated = try run(["--rotate", "bike-2"])
        #expect(rotated.status == 0, "\(rotated.output)")
        #expect(try text("keys/bike-2.key") != key && text("keys/bike-2.key.before") == key)
        let undone = try run(["--undo", "--old-secret", "file:maker.key", "bike-2"])
        #expect(undone.status == 0, "\(undone.output)")
        #expect(try text("fleet.csv") == "id,serial,family,depot,secret\n")
        // The module has the vendor's secret again, so it can be enrolled again with that.
        let back = try run(serial)
        #expect(back.status == 0, "\(back.output)")
    }

    @Test func `the strongest that is not listed is found, and a lock agrees on a key`() throws {
        let lock = try enrol("--family", "lrdevice", "lock-1", "--json")
        #expect(lock.status == 0, "\(lock.output)\(lock.errors)")
        #expect(lock.output.contains(#""serial":"5a000000000a""#))
        #expect(try text("keys/lock-1.key").contains(":"))
        let bike = try enrol("--old-secret", "file:maker.key", "bike-1")
        #expect(bike.status == 10 && bike.output.contains("about as near"), "\(bike.output)")
    }

    @Test(arguments: [
        (["bike-1", "--serial", "00a0000000000001"], 10, "nothing says which secret it has"),
        (
            ["bike-1", "--serial", "00a0000000000077", "--old-secret", "file:maker.key"], 11,
            "was not heard"
        ),
        (["--undo", "bike-9"], 64, "has no vehicle bike-9"),
        (["bike-1", "--batch", "fleet.csv"], 64, "beside --batch"),
        (["bike-1", "--old-secret", "d0c5"], 64, "no place on a command line"),
        (["--family", "geotab-go", "car-1", "--serial", "g9"], 64, "connect to us"),
    ])
    func `what cannot be enrolled says why, and nothing is listed`(
        line: [String],
        status: Int32,
        words: String
    ) throws {
        let result = try program.run(
            [
                "enrol", "--list", "fleet.csv", "--state", program.state, "--simulate",
                "depot.yaml", "--for", "5s",
            ] + line
        )
        #expect(result.status == status, "\(result.output)\(result.errors)")
        #expect((result.output + result.errors).contains(words), "\(result.output)\(result.errors)")
        #expect(try text("fleet.csv") == "id,serial,family,depot,secret\n")
    }

    @Test func `over a served bus a vehicle is enrolled and then worked on`() throws {
        let served = try ServedDepot("depot.yaml", of: program)
        let enrolled = try program.run([
            "enrol", "--list", "fleet.csv", "--state", program.state, "--bus", served.address,
            "--serial", "00a0000000000003", "--old-secret", "file:maker.key", "bike-3",
        ])
        #expect(enrolled.status == 0, "\(enrolled.output)\(enrolled.errors)")
        try program.write(
            "one.yaml",
            "name: one\nvehicles: {from: fleet.csv}\nsteps:\n  - read: speed\n"
        )
        let run = try program.run([
            "run", "one.yaml", "--state", program.state, "--bus", served.address,
        ])
        withExtendedLifetime(served) {}
        #expect(run.status == 0, "\(run.output)\(run.errors)")
    }

    @Test func `a module that is paired with by passkey is enrolled, and later runs use the bond`()
        throws
    {
        try program.write("digits", "012345\n")
        try program.write("fleet.csv", "id,serial,family,depot,secret,passkey\n", mode: 0o640)
        try program.write(
            "depot.yaml",
            """
            name: trackers
            modules:
              - {serial: trk-1, family: mcumgr, pairing: passkey, passkey: "012345"}

            """
        )
        let without = try enrol("--family", "mcumgr", "--serial", "trk-1", "trk-1")
        #expect(without.status == 10, "\(without.output)\(without.errors)")
        #expect(without.output.contains("bond"), "\(without.output)")
        #expect(try text("fleet.csv").split(separator: "\n").count == 1)
        let enrolled = try enrol(
            "--family",
            "mcumgr",
            "--serial",
            "trk-1",
            "--passkey",
            "file:digits",
            "trk-1"
        )
        #expect(enrolled.status == 0, "\(enrolled.output)\(enrolled.errors)")
        #expect(!enrolled.output.contains("012345"))
        #expect(try text("fleet.csv").hasSuffix("trk-1,trk-1,mcumgr,,,file:digits\n"))
        // A second enrolment changes nothing; a run and an inventory open the module with the data
        // of its row.
        let list = try text("fleet.csv")
        let again = try enrol("--family", "mcumgr", "trk-1")
        #expect(again.status == 0, "\(again.output)\(again.errors)")
        #expect(try text("fleet.csv") == list)
        try program.write(
            "one.yaml",
            "name: one\nvehicles: {from: fleet.csv}\nsteps: [{wait: 1s}]\n"
        )
        let yard = try program.run([
            "inventory", "--manifest", "one.yaml", "--state", program.state, "--simulate",
            "depot.yaml",
        ])
        #expect(yard.status == 0 && yard.output.contains("passkey"), "\(yard.output)\(yard.errors)")
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `a list that root changes in a folder of its own stays with its owner`() throws {
        let nobody: uid_t = 65_534
        #expect(chown(program.folder.path + "/fleet.csv", nobody, nobody) == 0)
        let served = try ServedDepot("depot.yaml", of: program)
        let result = try program.run(
            [
                "enrol", "--list", "fleet.csv", "--state", program.state, "--bus", served.address,
                "bike-1",
            ] + Self.one
        )
        withExtendedLifetime(served) {}
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        for (name, owner) in [("fleet.csv", nobody), ("keys", 0), ("keys/bike-1.key", 0)] {
            var status = stat()
            #expect(stat(program.folder.path + "/" + name, &status) == 0)
            #expect(status.st_uid == owner && status.st_gid == owner, "\(name)")
        }
        #expect(try mode("fleet.csv") == 0o640 && mode("keys/bike-1.key") == 0o600)
    }
}
