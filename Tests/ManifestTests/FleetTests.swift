import Base
import Families
import Manifest
import Testing

@Suite struct FleetTests {
    private func read(
        _ fleet: String,
        select: String = "{}"
    ) throws -> (plan: FrozenPlan?, errors: [String]) {
        let manifest = """
            name: n
            vehicles: {from: tallinn.csv, select: \(select)}
            steps: [{command: lock}]
            """
        let (plan, diagnostics) = try Sample.read(manifest, fleet: fleet)
        return (plan, diagnostics.map(\.description))
    }

    @Test func `quotes, line ends, spaces and a byte order mark are understood`() throws {
        let fleet =
            "\u{FEFF}id , serial,family,\"the depot\"\r\n"
            + "\"a, \"\"b\"\"\",00112233445566aa, comodule ,\"x\r\ny\"\r\n\r\n"
            + "  c,S-1,mcumgr,"
        let (plan, errors) = try read(fleet)
        #expect(errors.isEmpty)
        let vehicles = try #require(plan).vehicles
        #expect(vehicles.map(\.id.text) == ["a, \"b\"", "c"])
        #expect(vehicles[0].labels == [Label("the depot", "x\ny")])
        #expect(vehicles.map(\.place.line) == [2, 5])
        #expect(vehicles[1].labels.isEmpty)
    }

    @Test func `how a module is paired with stands in its row`() throws {
        let (plan, errors) = try read(
            """
            id,serial,family,pairing,passkey,renew-bond,parking
            a,s1,mcumgr,just-works,,true,P1
            b,s2,mcumgr,passkey,file:b.digits,false,P2
            c,s3,mcumgr,,,,P3
            """
        )
        #expect(errors.isEmpty)
        let bonds = try #require(plan).vehicles.map(\.bond)
        #expect(bonds.map(\.pairing) == [.justWorks, .passkey, nil])
        #expect(bonds.map { $0.passkey != nil } == [false, true, false])
        #expect(bonds.map(\.mayRenew) == [true, false, false])
    }

    @Test(arguments: [
        ("a,s,mcumgr,passkey,,", ":2:12: error: pairing by passkey, and no `passkey`"),
        ("a,s,mcumgr,none,file:x,", ":2:17: error: a passkey, and pairing that takes none"),
        ("a,s,mcumgr,just,,", ":2:12: error: `just` is not a way of pairing"),
        ("a,s,mcumgr,,123456,", ":2:13: error: a secret must be a reference"),
        ("a,s,mcumgr,,,perhaps", ":2:14: error: `perhaps` is not `true` or `false`"),
    ])
    func `a row that makes no sense of pairing is refused`(row: String, error: String) throws {
        let (_, errors) = try read("id,serial,family,pairing,passkey,renew-bond\n\(row)\n")
        #expect(errors.first?.hasPrefix("depot/tallinn.csv" + error) == true, "\(errors)")
        #expect(!errors.joined().contains("123456"))
    }

    @Test func `rows that a spreadsheet left empty are passed over`() throws {
        let (plan, errors) = try read("id,serial,family\na,s1,mcumgr\n,,\nb,s2,mcumgr\n,,\n")
        #expect(errors.isEmpty, "\(errors)")
        #expect(try #require(plan).vehicles.map(\.id.text) == ["a", "b"])
    }

    /// Fleet files, each with the start of its first error.
    static let mistakes: [(String, String)] = [
        ("", ":1:1: error: the file is empty"),
        ("\n\n", ":1:1: error: the file has no rows"),
        ("id,serial,family\n", ":1:1: error: no vehicle follows"),
        ("id;serial;family\na;b;c\n", ":2:5: error: `c` is not a family of modules"),
        ("id\tserial\tfamily\na\tb\tc\n", ":2:5: error: `c` is not a family of modules"),
        ("id,serial,family\n,,\n , ,\n", ":1:1: error: no vehicle follows"),
        ("id,family\na,mcumgr\n", ":1:1: error: the column `serial` is missing"),
        ("ID,serial,family,id\n", ":1:18: error: the column `id` occurs twice"),
        ("id,serial,family,\na,s,mcumgr,\n", ":1:18: error: a column has no name"),
        ("id,serial,family,id\n", ":1:18: error: the column `id` occurs twice"),
        (
            "id,serial,family,secrt\n",
            ":1:18: error: unknown column `secrt`\n  hint: did you mean `secret`?"
        ),
        (
            "id,seriel,family\n",
            ":1:4: error: unknown column `seriel`\n  hint: did you mean `serial`?"
        ),
        ("id,serial,family\na,s\n", ":2:1: error: the row has 2 cells, the first row 3"),
        ("id,serial,family\na,s,mcumgr,x\n", ":2:12: error: the row has 4 cells, the first row 3"),
        ("id,serial,family\n,s,mcumgr\n", ":2:1: error: a vehicle's id is missing here"),
        ("id,serial,family\na,,mcumgr\n", ":2:3: error: a serial is missing here"),
        ("id,serial,family\na,s,\n", ":2:5: error: the family is missing here"),
        ("id,serial,family\na,s,geotab\n", ":2:5: error: `geotab` is not a family of modules"),
        ("id,serial,family\na,s t,mcumgr\n", ":2:3: error: `s t` is not a serial"),
        (
            "id,serial,family\na,s,mcumgr\na,t,mcumgr\n",
            ":3:1: error: the id `a` occurs twice\n  hint: the first one is at depot/tallinn.csv:2:1"
        ),
        (
            "id,serial,family\na,S1,mcumgr\nb,s1,mcumgr\n",
            ":3:3: error: the serial `s1` occurs twice"
        ),
        ("id,serial,family\n\"a,s,mcumgr\n", ":2:1: error: the quote is never closed"),
        ("id,serial,family\n\"a\"b,s,mcumgr\n", ":2:4: error: text after a closing quote"),
        ("id,serial,family\na\"b,s,mcumgr\n", ":2:2: error: a quote in the middle of a cell"),
        ("id,serial,family,profile\na,s,mcumgr,A B\n", ":2:12: error: `A B` is not a profile"),
        ("id,serial,family\na,\u{0}s,mcumgr\n", ":2:3: error: this is not a text file"),
        (String(repeating: "a,", count: 300) + "\n", "more than 256 cells in a row"),
    ]

    @Test(arguments: mistakes)
    func `a mistake in the fleet file is an error at its place`(
        fleet: String,
        words: String
    ) throws {
        let (plan, errors) = try read(fleet)
        #expect(plan == nil)
        #expect(errors.contains { $0.contains(words) }, "\(errors)")
        #expect(errors.allSatisfy { $0.contains("\n  hint: ") })
    }

    @Test(arguments: [
        (String(repeating: "x\n", count: 100_003), "more than 100000 vehicles"),
        (
            String(repeating: String(repeating: ",", count: 255) + "\n", count: 7_900),
            "more than 2000000 cells in the file"
        ),
    ])
    func `a file that would fill the memory is refused`(fleet: String, words: String) throws {
        let errors = try read(fleet).errors
        #expect(errors.count == 1)
        #expect(errors.first?.contains(words) == true, "\(errors)")
    }

    @Test func `the manifest's own mistakes come before the fleet file's`() throws {
        let manifest = """
            name: n
            vehicles: {from: tallinn.csv}
            steps: [{command: lock}]
            settle: {quiet: 5}
            """
        let diagnostics = try Sample.read(manifest, fleet: "id,serial,family\na,s,x\n").diagnostics
        #expect(
            diagnostics.map(\.place.description) == ["depot/m.yaml:4:17", "depot/tallinn.csv:2:5"]
        )
    }

    @Test func `a file of nothing but mistakes is given up in time`() throws {
        let rows = (0..<20_000).map { "v\($0),s\($0),nothing\n" }.joined()
        #expect(try read("id,serial,family\n" + rows).errors.count == Diagnostics.most)
    }

    @Test func `all mistakes of a fleet file are reported together`() throws {
        let errors = try read(
            "id,serial,family\na,s\nb,s,mcumgr\nb,t,mcumgr\nc,u,x\nd,,lrdevice\n"
        ).errors
        #expect(errors.count == 4)
    }

    @Test(arguments: [
        ("{depot: a}", ["1", "2"]), ("{depot: [a, b], kind: y}", ["2", "3"]),
        ("{family: mcumgr}", ["1", "2", "3"]), ("{serial: S3}", ["3"]),
        ("{id: [3, 1]}", ["1", "3"]),
        ("{profile: generic}", ["1", "2", "3"]), ("{}", ["1", "2", "3"]),
    ])
    func `a selection keeps the order of the fleet`(select: String, ids: [String]) throws {
        let fleet =
            "id,serial,family,depot,kind\n1,s1,mcumgr,a,x\n2,s2,mcumgr,a,y\n3,s3,mcumgr,b,y\n"
        #expect(try read(fleet, select: select).plan?.vehicles.map(\.id.text) == ids)
    }

    @Test(arguments: [
        (
            "{depo: a}",
            "2:40: error: no vehicle has the label `depo`\n  hint: did you mean `depot`?"
        ),
        ("{depot: tartt}", "no vehicle has `depot` `tartt`\n  hint: did you mean `tartu`?"),
        ("{depot: tartu, kind: x}", "2:39: error: no vehicle is selected: none has all"),
        ("{depot: []}", "the list is empty"),
        ("{depot: {a: b}}", "expected a label's value, found a map"),
        ("[depot]", "expected a map of labels to values, found a list"),
    ])
    func `a selection of nobody is an error`(select: String, words: String) throws {
        let fleet = "id,serial,family,depot,kind\n1,s1,mcumgr,tallinn,x\n2,s2,mcumgr,tartu,y\n"
        let (plan, errors) = try read(fleet, select: select)
        #expect(plan == nil)
        #expect(errors.count == 1)
        #expect(errors.first?.contains(words) == true, "\(errors)")
    }

    @Test func `one unknown value among known ones is a warning`() throws {
        let fleet = "id,serial,family,depot\n1,s1,mcumgr,tallinn\n"
        let (plan, warnings) = try read(fleet, select: "{depot: [tallinn, narva]}")
        #expect(plan?.vehicles.count == 1)
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("warning: no vehicle has `depot` `narva`") == true)
    }

    @Test func `vehicles in the manifest itself may have labels and steps`() throws {
        let manifest = """
            name: n
            vehicles:
              from:
                - {id: 1042, serial: 001122334455, family: lrdevice, depot: a, steps: [{wait: 1s}]}
                - {id: b, serial: 001122334456, family: lrdevice, depot: b}
              select: {depot: a}
            """
        let plan = try #require(try Sample.read(manifest).plan)
        #expect(plan.vehicles.map(\.id.text) == ["1042"])
        #expect(plan.vehicles[0].steps.map(\.action) == [.wait(.seconds(1))])
        #expect(plan.vehicles[0].labels == [Label("depot", "a")])
    }

    @Test(arguments: [
        ("{id: a, serial: s}", "2:12: error: a vehicle needs the key `family`"),
        ("{id: a, serial: s, family: mcumgr, secrt: x}", "error: unknown column `secrt`"),
        ("{id: a, seral: s, family: mcumgr}", "error: unknown column `seral`"),
        ("{id: a, serial: s, family: mcumgr, depot: [a]}", "expected a text, found a list"),
        ("{id: \" a\", serial: s, family: mcumgr}", "is not a vehicle's id"),
        ("{id: a, serial: s, family: mcumgr, Bay: 1, bay: 2}", "the label `bay` occurs twice"),
        ("x", "expected a vehicle as a map, found text"),
    ])
    func `a mistake in a listed vehicle is one error`(vehicle: String, words: String) throws {
        let manifest = "name: n\nvehicles: [\(vehicle)]\nsteps: [{wait: 1s}]\n"
        let (plan, diagnostics) = try Sample.read(manifest)
        #expect(plan == nil)
        #expect(diagnostics.count == 1, "\(diagnostics)")
        #expect(diagnostics.first?.description.contains(words) == true, "\(diagnostics)")
    }

    @Test(arguments: [
        ("00112233445566778899aabbccddeeff", "a secret must be a reference"),
        ("hunter2", "a secret must be a reference"), ("base64:aGVsbG8=", "must be a reference"),
        ("file:", "the secret reference names nothing"), ("env:", "names nothing"),
        ("env:A-B", "a name that cannot be one"), ("credential:../x", "a name that cannot be one"),
        ("credential:00112233445566778899aabbccddeeff", "a name that cannot be one"),
        ("file://host/x", "a name that cannot be one"),
    ])
    func `a secret itself is refused and never repeated`(secret: String, words: String) throws {
        let (plan, errors) = try read("id,serial,family,secret\na,s,mcumgr,\(secret)\n")
        #expect(plan == nil)
        #expect(errors.count == 1)
        #expect(errors.first?.contains(words) == true, "\(errors)")
        let kept = secret.split(separator: ":").last.map(String.init) ?? secret
        #expect(secret.hasSuffix(":") || !errors.contains { $0.contains(kept) })
    }

    @Test func `a secret in the wrong column is not repeated either`() throws {
        let key = "00112233445566778899aabbccddeeff"
        for row in ["\(key),\(key),\(key)", "a,b,\(key)", "a,b,mcumgr,\(key)"] {
            let errors = try read("id,serial,family\n\(row)\n").errors
            #expect(!errors.isEmpty)
            #expect(!errors.contains { $0.contains(key) }, "\(errors)")
        }
    }

    @Test func `a secret from the environment is warned about`() throws {
        let (plan, warnings) = try read("id,serial,family,secret\na,s,mcumgr,env:DEPOT_KEY\n")
        #expect(plan?.vehicles.first?.secret == .environment("DEPOT_KEY"))
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.contains(":2:12: warning: the secret comes from the environment")
                == true
        )
    }

    @Test(arguments: [(";", "a,b"), ("\t", "a;b"), (",", "a;b")])
    func `a program writes a row with the separator of the file`(mark: String, name: String) throws
    {
        let head = ["ID", "Serial", "Family", "Note"].joined(separator: mark)
        let row = ["v", "00:11:22:33:44:55", "lrdevice", ""].joined(separator: mark)
        let text = "\u{FEFF}sep=\(mark)\r\n\(head)\r\n\(row)\r\n"
        var file = try #require(FleetFile(Array(text.utf8), file: "f.csv", Diagnostics()))
        #expect(file.has("note") && file.entries.map(\.serial) == ["001122334455"])
        let vehicle = try #require(VehicleID("w"))
        let cells = [("id", "w"), ("serial", "s"), ("family", "esp"), ("note", "x\(mark)\(name)")]
        #expect(try file.list(vehicle, cells.map { (column: $0, text: $1) }))
        let added = ["w", "s", "esp", "\"x\(mark)\(name)\""].joined(separator: mark)
        #expect(String(decoding: file.bytes, as: UTF8.self) == text + added + "\r\n")
        #expect(file.entries.count == 2)
        #expect(try file.strike(vehicle) && file.bytes == Array(text.utf8))
    }

    @Test func `a program does not work with a list that a spreadsheet has ruined`() {
        let diagnostics = Diagnostics()
        let text = "id;serial;family\nv;1,12233E+15;comodule\n"
        #expect(FleetFile(Array(text.utf8), file: "f.csv", diagnostics) == nil)
        #expect(diagnostics.list.map(\.place.description) == ["f.csv:2:3"])
    }

    @Test func `a row's own steps replace the manifest's`() throws {
        let fleet = """
            id,serial,family,steps,depot
            a,00112233445566aa,comodule,update: city-4.12; command: lock,tallinn-1
            b,00112233445566ab,comodule,"require: {x: ""> 3""}, otherwise: skip; wait: 2s;",tallinn-1
            c,00112233445566ac,comodule,"[{command: [lock, locate]}]",tallinn-1
            d,00112233445566ad,comodule,,tallinn-1

            """
        let (read, diagnostics) = try Sample.read(fleet: fleet)
        #expect(diagnostics.isEmpty)
        let vehicles = try #require(read).vehicles
        #expect(vehicles[0].steps.compactMap(\.update?.image) == ["city-4.12"])
        #expect(vehicles[0].steps.last?.action == .command([.lock]))
        #expect(vehicles[0].steps.map(\.place.column) == [29, 48])
        guard case .require(let conditions, .skip) = vehicles[1].steps[0].action else {
            Issue.record("\(vehicles[1].steps)")
            return
        }
        #expect(conditions.map(\.condition.description) == ["> 3"])
        #expect(vehicles[1].steps.count == 2)
        #expect(vehicles[2].steps.map(\.action) == [.command([.lock, .locate])])
        #expect(vehicles[3].steps.count == 4)
    }

    @Test(arguments: [
        ("command: unlok-all", "2:21: error: `unlok-all` is not a command"),
        ("command: lock; update: city", "2:35: error: no image is named `city`"),
        ("\"set: {a: \"\"x\"\"}; wait: 5\"", "2:36: error: the duration has no unit"),
        ("command: lock;; wait: 1s", "2:26: error: an empty step"),
        ("command lock", "2:12: error: unknown key `command lock`"),
        ("\"[{command: lokc}]\"", "2:24: error: `lokc` is not a command"),
        ("\"wait: 1s;\nwait: 5\"", "3:7: error: the duration has no unit"),
        ("command: [lock", "2:26: error: the `[` opened at line 2, column 21 is not closed"),
        ("\"}: {\"", "error: "), ("a: b: c", "2:16: error"),
        (String(repeating: "wait: 1s;", count: 101), "2:12: error: more than 100 steps in a cell"),
        (String(repeating: "x", count: 4_097), "2:12: error: the cell holds more than 4096 bytes"),
    ])
    func `a mistake in a cell of steps has its place in the file`(cell: String, words: String)
        throws
    {
        let (plan, errors) = try read("id,serial,family,steps\na,s,mcumgr,\(cell)\n")
        #expect(plan == nil)
        #expect(errors.contains { $0.contains(words) }, "\(errors)")
    }
}
