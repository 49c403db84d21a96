import Foundation
import Testing
import Workbench

/// A first manifest, which is valid as it was written.
@Suite struct InitTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.write(
            "depot.yaml",
            """
            name: yard
            modules:
              - {serial: ym-0001, family: mcumgr, count: 2}
              - {serial: esp-0001, family: esp}
              - {serial: "00a0000000000001", key: "11", type: 17, version: "4.11.3"}

            """
        )
    }

    private func path(_ file: String) -> String {
        Program.repository.appending(path: file).path(percentEncoded: false)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: program.folder.path + "/" + name, encoding: .utf8)
    }

    /// The output of `validate`, which accepts the manifest.
    private func valid(_ manifest: String) throws -> String {
        let result = try program.run(["validate", manifest])
        let written = try text(manifest)
        #expect(result.status == 0, "\(result.errors) \(written)")
        return result.output
    }

    @Test func `from nothing there is an example, which is valid`() throws {
        let made = try program.run(["init"])
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("/rollout.yaml written"), "\(made.output)")
        #expect(try valid("rollout.yaml").contains("valid: 1 vehicle, 0 images"))
        #expect(try text("rollout.yaml").contains("name: rollout\n"))
        let planned = try program.run(["plan", "rollout.yaml", "--state", program.state])
        #expect(planned.status == 0, "\(planned.errors)")
    }

    @Test func `from a scan each module has a row, with the place of its secret`() throws {
        let made = try program.run(["init", "--scan", "--simulate", "depot.yaml", "yard.yaml"])
        #expect(made.status == 0, "\(made.errors)")
        #expect(try valid("yard.yaml").contains("valid: 4 vehicles, 0 images"))
        let rows = try text("yard.csv").split(whereSeparator: \.isNewline).map(String.init)
        #expect(rows.first == "id,serial,family,profile,secret")
        #expect(rows.contains("ym-0001,ym-0001,mcumgr,generic,"), "\(rows)")
        let bike = try #require(rows.first { $0.contains("00a0000000000001,comodule") })
        #expect(bike.contains(",credential:module-"), "\(bike)")
    }

    @Test func `with an image it updates the vehicles that this fits, and carries that out`() throws
    {
        let made = try program.run([
            "init", "--scan", "--simulate", "depot.yaml", "--secret", "file:keys/ID.key", "--image",
            path("manifests/depot-wide/tracker-2.0.0.img"), "yard.yaml",
        ])
        #expect(made.status == 0, "\(made.errors)")
        #expect(try valid("yard.yaml").contains("valid: 2 vehicles, 1 image"))
        var isFolder: ObjCBool = false
        let keys = program.folder.path + "/keys"
        #expect(FileManager.default.fileExists(atPath: keys, isDirectory: &isFolder))
        #expect(isFolder.boolValue)
        let ran = try program.run([
            "run", "yard.yaml", "--simulate", "depot.yaml", "--state", program.state,
        ])
        #expect(ran.lastLine.contains("rollout=yard ok=2 "), "\(ran.output) \(ran.errors)")
    }

    @Test func `from a spreadsheet the list is named as it is`() throws {
        try program.write("cars.csv", "ID;Serial;Family;Site\nvan 1;ym-0001;mcumgr;gate\n")
        let made = try program.run([
            "init", "--list", "cars.csv", "--image",
            path("manifests/depot-wide/tracker-2.0.0.img"), "cars.yaml",
        ])
        #expect(made.status == 0, "\(made.errors)")
        #expect(try text("cars.yaml").contains("from: \"cars.csv\""))
        #expect(try valid("cars.yaml").contains("valid: 1 vehicle, 1 image"))
        try program.write("bad.csv", "id,serial,family\nvan,,mcumgr\n")
        let bad = try program.run(["init", "--list", "bad.csv", "bad.yaml"])
        #expect(bad.status == 65, "\(bad.errors)")
        #expect(bad.errors.contains("bad.csv:2:5"), "\(bad.errors)")
        #expect(!FileManager.default.fileExists(atPath: program.folder.path + "/bad.yaml"))
    }

    @Test func `of several profiles those are selected that the image fits`() throws {
        try program.write(
            "tags.csv",
            "id,serial,family,profile\na,a-1,nordic,legacy\nb,b-1,nordic,generic\nc,c-1,esp,generic\n"
        )
        let made = try program.run([
            "init", "--list", "tags.csv", "--image", path("manifests/tags/tag-2.0.0.zip"),
            "tags.yaml",
        ])
        #expect(made.status == 0, "\(made.errors)")
        #expect(try valid("tags.yaml").contains("valid: 1 vehicle, 1 image"))
        let written = try text("tags.yaml")
        #expect(written.contains("select: {family: nordic, profile: "), "\(written)")
        #expect(written.contains("waves: [rest]"), "\(written)")
    }

    @Test func `a list in another folder whose keys would be looked for elsewhere is refused`()
        throws
    {
        let folder = program.folder.path
        try FileManager.default.createDirectory(
            atPath: folder + "/lists",
            withIntermediateDirectories: false
        )
        let header = "id,serial,family,secret\nbike,00a0000000000001,comodule,"
        try program.write("lists/near.csv", header + "file:keys/bike.key\n")
        try program.write("lists/far.csv", header + "file:\(folder)/keys/bike.key\n")
        let near = try program.run(["init", "--list", "lists/near.csv", "near.yaml"])
        #expect(near.status == 65, "\(near.errors)")
        #expect(near.errors.contains("'file:keys/bike.key' of bike is relative"), "\(near.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/near.yaml"))
        for (list, manifest) in [("far", "far.yaml"), ("near", "lists/near.yaml")] {
            let made = try program.run(["init", "--list", "lists/\(list).csv", manifest])
            #expect(made.status == 0, "\(made.errors)")
        }
    }

    @Test func `what lies beside the manifest can be moved together with it`() throws {
        let folder = program.folder.path
        try program.write("cars.csv", "ID;Serial;Family\nvan 1;ym-0001;mcumgr\n")
        try FileManager.default.copyItem(
            atPath: path("manifests/depot-wide/tracker-2.0.0.img"),
            toPath: folder + "/new 2.img"
        )
        let made = try program.run([
            "init", "--list", "cars.csv", "--image", "new 2.img", "cars.yaml",
        ])
        #expect(made.status == 0, "\(made.errors)")
        #expect(try text("cars.yaml").contains("url: \"file:new%202.img\""))
        try FileManager.default.createDirectory(
            atPath: folder + "/etc",
            withIntermediateDirectories: false
        )
        for file in ["cars.csv", "new 2.img", "cars.yaml"] {
            try FileManager.default.moveItem(
                atPath: folder + "/" + file,
                toPath: folder + "/etc/" + file
            )
        }
        #expect(try valid("etc/cars.yaml").contains("valid: 1 vehicle, 1 image"))
    }

    @Test(arguments: ["yard.yaml", "yard.csv"])
    func `a file that exists is not overwritten, and then nothing is written`(file: String) throws {
        try program.write(file, "mine\n")
        let refused = try program.run(["init", "yard.yaml"])
        #expect(refused.status == 73, "\(refused.errors)")
        #expect(refused.errors.contains("\(file) exists already"), "\(refused.errors)")
        #expect(try text(file) == "mine\n")
        let other = file == "yard.csv" ? "yard.yaml" : "yard.csv"
        #expect(!FileManager.default.fileExists(atPath: program.folder.path + "/" + other))
    }

    @Test func `an image for other modules, and a yard without any, are said`() throws {
        try program.write(
            "none.yaml",
            "name: none\nmodules:\n  - {serial: ym-1, family: mcumgr, out-of-reach: true}\n"
        )
        let none = try program.run(["init", "--scan", "--simulate", "none.yaml", "yard.yaml"])
        #expect(none.status == 11, "\(none.errors)")
        let wrong = try program.run([
            "init", "--image", path("manifests/tags/tag-2.0.0.zip"), "yard.yaml",
        ])
        #expect(wrong.status == 77, "\(wrong.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: program.folder.path).allSatisfy {
                !$0.hasPrefix("yard.")
            }
        )
    }

    @Test func `on a terminal it asks for what no flag gives`() throws {
        let line = ["init", "--simulate", "depot.yaml", "yard.yaml"]
        let terminal = try Pty(Program.path, line, in: program.folder.path)
        try terminal.wait(for: "List the modules in range? [y/N]")
        for byte in "y\n".utf8 { terminal.press(byte) }
        try terminal.wait(for: "Image file, or nothing:")
        terminal.press(0x0A)
        #expect(try terminal.end() == 0, "\(terminal.text)")
        #expect(try valid("yard.yaml").contains("valid: 4 vehicles"))
    }
}
