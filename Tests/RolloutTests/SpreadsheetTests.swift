import Base
import Manifest
import Rollout
import Testing

/// Fleet lists as spreadsheets write them in several countries.
@Suite struct SpreadsheetTests {
    /// A file as people send it, and what is made of it.
    struct Sheet: Sendable, CustomTestStringConvertible {
        let habit: String
        let bytes: [UInt8]
        /// Each vehicle as its id, serial, family and labels; empty where the file is refused.
        var vehicles: [String] = []
        /// The place and the words of its first error, and the words of its hint.
        var refusal: (words: String, hint: String)?

        var testDescription: String { habit }

        static func reads(_ habit: String, _ text: String, _ vehicles: String...) -> Self {
            Self(habit: habit, bytes: Array(text.utf8), vehicles: vehicles)
        }

        static func refuses(
            _ habit: String,
            _ text: String,
            _ words: String,
            hint: String
        ) -> Self {
            refuses(habit, Array(text.utf8), words, hint: hint)
        }

        static func refuses(
            _ habit: String,
            _ bytes: [UInt8],
            _ words: String,
            hint: String
        ) -> Self {
            Self(habit: habit, bytes: bytes, refusal: (words, hint))
        }
    }

    private static let mark = "\u{FEFF}"
    private static let ruined = "a spreadsheet made a number of this"
    private static let asText = "format the column as text and paste the value again"
    private static let asUTF8 = "save it as CSV UTF-8"

    /// Latin-1 and its relatives: one byte for each character.
    private static func narrow(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    private static func wide(_ text: String, isBig: Bool) -> [UInt8] {
        ("\u{FEFF}" + text).utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isBig ? [high, low] : [low, high]
        }
    }

    private static func zip(_ first: String) -> [UInt8] {
        [0x50, 0x4B, 0x03, 0x04] + [UInt8](repeating: 0, count: 26) + Array(first.utf8)
    }

    static let german: [Sheet] = [
        .reads(
            "Excel de, CSV UTF-8",
            mark + "ID;Serial;Family;Depot\r\nB-1;00112233445566aa;comodule;Köln\r\n",
            "B-1 00112233445566aa comodule depot=Köln"
        ),
        .refuses(
            "Excel de, CSV in Windows-1252",
            narrow("id;serial;family;depot\r\nB-1;00112233445566aa;comodule;Köln\r\n"),
            "2:32: error: this is not UTF-8",
            hint: asUTF8
        ),
        .refuses(
            "Excel de, a serial of digits in a column of numbers",
            "id;serial;family\r\nB-1;1,12233E+15;comodule\r\n",
            "2:5: error: \(ruined)",
            hint: asText
        ),
        .refuses(
            "Excel de, an id of digits in a column of numbers",
            "serial;id;family\r\n00112233445566aa;4,00681E+12;comodule\r\n",
            "2:18: error: \(ruined)",
            hint: asText
        ),
        .reads(
            "Excel de, a label may look like a number that was made",
            "id;serial;family;km\r\nB-1;00112233445566aa;comodule;1,5E+11\r\n",
            "B-1 00112233445566aa comodule km=1,5E+11"
        ),
        .reads(
            "Excel de, decimal commas in a label",
            "id;serial;family;Reifen\r\nB-1;s1;mcumgr;28,5\r\n",
            "B-1 s1 mcumgr reifen=28,5"
        ),
        .reads(
            "Excel de, its own first line",
            "sep=;\r\nid;serial;family\r\nB-1;s1;mcumgr\r\n",
            "B-1 s1 mcumgr"
        ),
        .reads(
            "Excel de, its own first line after a mark",
            mark + "sep=;\r\nid;serial;family;ort\r\nB-1;s1;mcumgr;a,b\r\n",
            "B-1 s1 mcumgr ort=a,b"
        ),
        .reads(
            "LibreOffice de, Excel's first line quoted as a cell",
            "\"sep=;\"\n\"id\";\"serial\";\"family\"\n\"B-1\";\"s1\";\"mcumgr\"\n",
            "B-1 s1 mcumgr"
        ),
        .refuses(
            "Excel de, a first line for other cells than those that follow",
            "sep=,\r\nid;serial;family\r\nB-1;s1;mcumgr\r\n",
            "2:1: error: the column `id` is missing",
            hint: "the first row names the columns"
        ),
        .refuses(
            "a first line with a separator of its own",
            "sep=|\r\nid|serial|family\r\nB-1|s1|mcumgr\r\n",
            "1:1: error: the cells are separated by `|`",
            hint: "commas, semicolons or tabs"
        ),
        .reads(
            "LibreOffice de, steps with semicolons in quotes",
            "id;serial;family;steps\nB-1;s1;mcumgr;\"wait: 1s; wait: 2s\"\n",
            "B-1 s1 mcumgr"
        ),
        .refuses(
            "by hand, steps with semicolons without quotes",
            "id;serial;family;steps\nB-1;s1;mcumgr;wait: 1s; wait: 2s\n",
            "2:25: error: the row has 5 cells, the first row 4",
            hint: "put a cell that holds a semicolon in quotes"
        ),
        .refuses(
            "Excel de, empty columns that were once used",
            "id;serial;family;;\r\nB-1;s1;mcumgr;;\r\n",
            "1:18: error: a column has no name",
            hint: "name or remove it"
        ),
        .reads(
            "Excel de, empty rows that were once used",
            "id;serial;family\r\nB-1;s1;mcumgr\r\n;;\r\n;;\r\n",
            "B-1 s1 mcumgr"
        ),
        .refuses(
            "Excel de, more cells than columns, all empty",
            "id;serial;family\r\nB-1;s1;mcumgr;;\r\n",
            "2:15: error: the row has 5 cells, the first row 3",
            hint: "put a cell that holds a semicolon in quotes"
        ),
        .refuses(
            "two exports pasted together",
            "id;serial;family\nB-1;s1;mcumgr\nB-2,s2,mcumgr\n",
            "3:1: error: the row has 1 cell, the first row 3",
            hint: "leave cells empty, but write the semicolons"
        ),
        .refuses(
            "a header that means one column twice",
            "id;Serial;family;serial \r\nB-1;s1;mcumgr;s2\r\n",
            "1:18: error: the column `serial` occurs twice",
            hint: "the first one is at depot/tallinn.csv:1:4"
        ),
        .refuses(
            "labels that differ in a capital letter",
            "id;serial;family;Ort;ort\r\nB-1;s1;mcumgr;a;b\r\n",
            "1:22: error: the column `ort` occurs twice",
            hint: "remove one of them"
        ),
    ]

    static let french: [Sheet] = [
        .reads(
            "Excel fr, CSV UTF-8 with a label in French",
            mark + "Id;Serial;Family;Dépôt\r\nV-7;001122334455;lrdevice;Évry\r\n",
            "V-7 001122334455 lrdevice dépôt=Évry"
        ),
        .refuses(
            "Excel fr, CSV in Windows-1252",
            narrow("id;serial;family;Dépôt\r\nV-7;001122334455;lrdevice;Lyon\r\n"),
            "1:19: error: this is not UTF-8",
            hint: asUTF8
        ),
        .refuses(
            "Excel fr, Unicode text",
            wide("id\tserial\tfamily\r\nV-7\ts1\tmcumgr\r\n", isBig: false),
            "1:1: error: this is UTF-16 or UTF-32, not UTF-8",
            hint: asUTF8
        ),
        .reads(
            "Excel fr, no-break spaces around a header",
            "id;serial\u{A0};\u{A0}family\r\nV-7;s1;mcumgr\r\n",
            "V-7 s1 mcumgr"
        ),
        .refuses(
            "Excel fr, a no-break space in a serial",
            "id;serial;family\r\nV-7;00\u{A0}11;mcumgr\r\n",
            "2:5: error: `00\u{A0}11` is not a serial",
            hint: "visible ASCII"
        ),
        .refuses(
            "Excel fr, a no-break space after an id",
            "id;serial;family\r\nV-7\u{A0};s1;mcumgr\r\n",
            "2:1: error: `V-7\u{A0}` is not a vehicle's id",
            hint: "spaces only inside"
        ),
        .reads(
            "Excel fr, a price with a narrow no-break space",
            "id;serial;family;prix\r\nV-7;s1;mcumgr;\"1\u{202F}250,00 €\"\r\n",
            "V-7 s1 mcumgr prix=1\u{202F}250,00 €"
        ),
        .reads(
            "LibreOffice fr, commas and every text in quotes",
            "\"id\",\"serial\",\"family\",\"prix\"\n\"V-7\",\"s1\",\"mcumgr\",\"3,5\"\n",
            "V-7 s1 mcumgr prix=3,5"
        ),
        .refuses(
            "LibreOffice fr, commas and a number in a column of numbers",
            "\"id\",\"serial\",\"family\"\n\"V-7\",\"1,23457E+11\",\"lrdevice\"\n",
            "2:8: error: \(ruined)",
            hint: asText
        ),
        .refuses(
            "decimal commas in a file with commas, without quotes",
            "id,serial,family,prix\nV-7,s1,mcumgr,3,5\n",
            "2:17: error: the row has 5 cells, the first row 4",
            hint: "put a cell that holds a comma in quotes"
        ),
        .reads(
            "Excel fr, quotes inside of a label",
            "id;serial;family;nom\r\nV-7;s1;mcumgr;\"dit \"\"Zoé\"\"; bleu\"\r\n",
            "V-7 s1 mcumgr nom=dit \"Zoé\"; bleu"
        ),
        .refuses(
            "a quote that is never closed",
            "id;serial;family\r\nV-7;\"s1;mcumgr\r\n",
            "2:5: error: the quote is never closed",
            hint: "close it"
        ),
        .refuses(
            "text after a closing quote",
            "id;serial;family\r\n\"V-7\" x;s1;mcumgr\r\n",
            "2:7: error: text after a closing quote",
            hint: "add the semicolon"
        ),
        .refuses(
            "a file in French from the first row on",
            "identifiant;numéro;famille\r\nV-7;s1;mcumgr\r\n",
            "1:1: error: the column `id` is missing",
            hint: "id, serial and family must be there"
        ),
    ]

    static let english: [Sheet] = [
        .reads(
            "Excel en, CSV UTF-8",
            mark + "ID,Serial,Family,Bay\r\nEE-1,00112233445566AA,comodule,B 4\r\n",
            "EE-1 00112233445566aa comodule bay=B 4"
        ),
        .refuses(
            "Excel en, a serial of digits in a column of numbers",
            "id,serial,family\r\nEE-1,1.23457E+11,lrdevice\r\n",
            "2:6: error: \(ruined)",
            hint: asText
        ),
        .refuses(
            "Excel en, a round number",
            "id,serial,family\r\nEE-1,1E+15,comodule\r\n",
            "2:6: error: \(ruined)",
            hint: asText
        ),
        .refuses(
            "Excel en, a serial of hex digits with one e",
            "id,serial,family\r\nEE-1,1.12E+51,comodule\r\n",
            "2:6: error: \(ruined)",
            hint: asText
        ),
        .reads(
            "a serial that only resembles such a number",
            "id,serial,family\r\nEE-1,1e10,mcumgr\r\n1E+2,00112233445566e1,comodule\r\n",
            "EE-1 1e10 mcumgr",
            "1E+2 00112233445566e1 comodule"
        ),
        .refuses(
            "Excel en, the serial of a GO device",
            "id,serial,family,go-serial\r\nEE-1,s1,mcumgr,1.23457E+11\r\n",
            "2:16: error: \(ruined)",
            hint: asText
        ),
        .refuses(
            "Excel en, a serial without its leading zeros",
            "id,serial,family\r\nEE-1,11223344556677,comodule\r\n",
            "2:6: error: \(ruined)",
            hint: asText
        ),
        .refuses(
            "Excel en, a lock without its leading zeros",
            "id,serial,family\r\nEE-1,1122334455,lrdevice\r\n",
            "2:6: error: \(ruined)",
            hint: asText
        ),
        .refuses(
            "a serial with a digit too few that is no number",
            "id,serial,family\r\nEE-1,0011223344556a,comodule\r\n",
            "2:6: error: the serial `0011223344556a` is not one of the profile comodule/generic",
            hint: "its serials have 16 hex digits"
        ),
        .reads(
            "a short serial in a family that has such",
            "id,serial,family\r\nEE-1,42,mcumgr\r\n",
            "EE-1 42 mcumgr"
        ),
        .refuses(
            "a formula that keeps the zeros",
            "id,serial,family\r\nEE-1,\"=\"\"00112233445566aa\"\"\",comodule\r\n",
            "2:7: error: `=\"00112233445566aa\"` is not a serial",
            hint: "`=`"
        ),
        .refuses(
            "Excel en, Unicode Text",
            wide("id\tserial\tfamily\r\n", isBig: false),
            "1:1: error: this is UTF-16 or UTF-32, not UTF-8",
            hint: asUTF8
        ),
        .refuses(
            "a workbook",
            zip("[Content_Types].xml"),
            "1:1: error: this is an Excel workbook (.xlsx) or another ZIP file, not CSV",
            hint: asUTF8
        ),
        .reads(
            "Excel en, text with tabs",
            "id\tserial\tfamily\tbay\r\nEE-1\ts1\tmcumgr\t\r\nEE-2\ts2\tmcumgr\tB, 4\r\n",
            "EE-1 s1 mcumgr",
            "EE-2 s2 mcumgr bay=B, 4"
        ),
        .reads(
            "tabs, and the first cells empty in a label",
            "note\tid\tserial\tfamily\n\tEE-1\ts1\tmcumgr\n",
            "EE-1 s1 mcumgr"
        ),
        .reads(
            "Excel en for Mac, with the line ends of Mac OS 9",
            "id,serial,family\rEE-1,s1,mcumgr\rEE-2,s2,mcumgr\r",
            "EE-1 s1 mcumgr",
            "EE-2 s2 mcumgr"
        ),
        .reads(
            "Google Sheets, a cell with two lines",
            "id,serial,family,note\nEE-1,s1,mcumgr,\"left\nright\"\nEE-2,s2,mcumgr,",
            "EE-1 s1 mcumgr note=left\nright",
            "EE-2 s2 mcumgr"
        ),
        .reads(
            "a quoted separator in the header does not count",
            "id,serial,family,\"a;b;c;d;e\"\nEE-1,s1,mcumgr,x\n",
            "EE-1 s1 mcumgr a;b;c;d;e=x"
        ),
        .reads(
            "fewer semicolons than commas in the header",
            "id,serial,family,a;b\nEE-1,s1,mcumgr,x\n",
            "EE-1 s1 mcumgr a;b=x"
        ),
        .reads(
            "spaces and tabs around cells with commas",
            "id ,\tserial , family\n EE-1,s1\t,mcumgr \n",
            "EE-1 s1 mcumgr"
        ),
        .refuses(
            "a header with one column",
            "serial\n00112233445566aa\n",
            "1:1: error: the column `id` is missing",
            hint: "id, serial and family must be there"
        ),
        .refuses(
            "a title above the header",
            "Fleet Toronto,,\nid,serial,family\nEE-1,s1,mcumgr\n",
            "1:1: error: the column `id` is missing",
            hint: "id, serial and family must be there"
        ),
        .refuses(
            "an export of nothing",
            "id,serial,family\r\n",
            "1:1: error: no vehicle",
            hint: "add a row"
        ),
    ]

    static let polish: [Sheet] = [
        .reads(
            "Excel pl, CSV UTF-8",
            mark + "ID;SERIAL;FAMILY;Zajezdnia\r\nW-3;00112233445566ab;comodule;Łódź\r\n",
            "W-3 00112233445566ab comodule zajezdnia=Łódź"
        ),
        .refuses(
            "Excel pl, CSV in Windows-1250",
            Array("id;serial;family;m\r\nW-3;s1;mcumgr;".utf8) + [
                0xA3, 0xF3, 0x64, 0x9F, 0x0D, 0x0A,
            ],
            "2:15: error: this is not UTF-8",
            hint: asUTF8
        ),
        .reads(
            "LibreOffice pl, semicolons and every text in quotes",
            "\"ID\";\"Serial\";\"Family\"\n\"W-3\";\"s1\";\"mcumgr\"\n",
            "W-3 s1 mcumgr"
        ),
        .refuses(
            "LibreOffice pl, UTF-16 with the big end first",
            wide("id;serial;family\n", isBig: true),
            "1:1: error: this is UTF-16 or UTF-32, not UTF-8",
            hint: asUTF8
        ),
        .refuses(
            "Excel pl, a number in quotes is one too",
            "id;serial;family\r\nW-3;\"1,23457E+11\";lrdevice\r\n",
            "2:6: error: \(ruined)",
            hint: asText
        ),
        .reads(
            "pairs with colons, as the module's label has them",
            "id;serial;family\r\nW-3;00:11:22:33:44:55:66:AB;comodule\r\n",
            "W-3 00112233445566ab comodule"
        ),
        .reads(
            "pairs with spaces",
            "id;serial;family\r\nW-3;00 11 22 33 44 55;lrdevice\r\n",
            "W-3 001122334455 lrdevice"
        ),
        .reads(
            "a lock's serial that looks like an address",
            "id;serial;family;profile\r\nW-3;00:11:22:33:44:55;lrdevice;\r\n",
            "W-3 001122334455 lrdevice"
        ),
        .reads(
            "an address where the family's serials may be addresses",
            "id;serial;family\r\nW-3;00:11:22:33:44:55;esp\r\n",
            "W-3 00:11:22:33:44:55 esp"
        ),
        .refuses(
            "pairs with spaces where a serial is no hex digits",
            "id;serial;family\r\nW-3;00 a0 50 01;mcumgr\r\n",
            "2:5: error: `00 a0 50 01` is not a serial",
            hint: "without spaces"
        ),
        .refuses(
            "too few pairs",
            "id;serial;family\r\nW-3;00:a0:50:0f;comodule\r\n",
            "2:5: error: the serial `00a0500f` is not one of the profile comodule/generic",
            hint: "here stand 8 characters"
        ),
        .refuses(
            "digits that are no pairs",
            "id;serial;family\r\nW-3;001 122 334 455;lrdevice\r\n",
            "2:5: error: `001 122 334 455` is not a serial",
            hint: "without spaces"
        ),
        .refuses(
            "the same serial with and without colons",
            "id;serial;family\r\nW-3;00:11:22:33:44:55;lrdevice\r\nW-4;001122334455;lrdevice\r\n",
            "3:5: error: the serial `001122334455` occurs twice",
            hint: "the first one is at depot/tallinn.csv:2:5"
        ),
        .reads(
            "columns without a meaning here",
            "id;serial;family;X-Uwagi\r\nW-3;s1;mcumgr;nic\r\n",
            "W-3 s1 mcumgr"
        ),
    ]

    static let dutch: [Sheet] = [
        .reads(
            "Excel nl, CSV with semicolons",
            "Id;Serial;Family;Kenteken\r\nNL-9;s1;mcumgr;AB-12-CD\r\n",
            "NL-9 s1 mcumgr kenteken=AB-12-CD"
        ),
        .refuses(
            "LibreOffice nl, its own format",
            zip("mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK"),
            "1:1: error: this is an OpenDocument file (such as .ods), not CSV",
            hint: asUTF8
        ),
        .reads(
            "Excel nl, its own first line with a tab",
            "sep=\t\r\nid\tserial\tfamily\r\nNL-9\ts1\tmcumgr\r\n",
            "NL-9 s1 mcumgr"
        ),
        .reads(
            "Excel nl, its own first line with a comma",
            "SEP=,\r\nid,serial,family,\"a;b;c;d\"\r\nNL-9,s1,mcumgr,\r\n",
            "NL-9 s1 mcumgr"
        ),
        .reads(
            "LibreOffice nl, blank lines before and between",
            "\n\nid;serial;family\n\nNL-9;s1;mcumgr\n\n",
            "NL-9 s1 mcumgr"
        ),
        .refuses(
            "Excel nl, the columns of a row with tabs",
            "id\tserial\tfamily\r\nNL-9\ts1\r\n",
            "2:1: error: the row has 2 cells, the first row 3",
            hint: "leave cells empty, but write the tabs"
        ),
        .refuses(
            "a misspelled column with a capital letter",
            "Id;Seriel;Family\r\nNL-9;s1;mcumgr\r\n",
            "1:4: error: unknown column `Seriel`",
            hint: "did you mean `serial`?"
        ),
        .refuses(
            "a family with a capital letter",
            "id;serial;family\r\nNL-9;s1;Mcumgr\r\n",
            "2:9: error: `Mcumgr` is not a family of modules",
            hint: "did you mean `mcumgr`?"
        ),
        .refuses(
            "Excel nl, dots between thousands of a hardware id",
            "id;serial;family;hardware-id\r\nNL-9;s1;mcumgr;1.234.567\r\n",
            "2:16: error: `1.234.567` is not a hardware id",
            hint: "yardmaster token show"
        ),
        .refuses(
            "a page of the web instead of the export",
            "<!DOCTYPE html>\n<html></html>\n",
            "1:1: error: the column `id` is missing",
            hint: "id, serial and family must be there"
        ),
        .refuses("an empty file", "", "1:1: error: the file is empty", hint: "the right file?"),
    ]

    @Test(arguments: german + french + english + polish + dutch)
    func `a spreadsheet is read as it is meant, or refused at its place`(sheet: Sheet) throws {
        let manifest = """
            name: n
            vehicles: {from: tallinn.csv}
            steps: [{wait: 1s}]
            """
        let read = try ManifestReader.read(Array(manifest.utf8), path: "depot/m.yaml") {
            _,
            _ throws(FileError) in sheet.bytes
        }
        let mistakes = read.plan.map { JobBuilder($0).mistakes } ?? []
        let errors = (read.diagnostics + mistakes).map(\.description)
        guard let refusal = sheet.refusal else {
            #expect(errors.isEmpty)
            let vehicles = try #require(read.plan).vehicles.map { vehicle in
                ([vehicle.id.text, vehicle.serial.text, vehicle.family.rawValue]
                    + vehicle.labels.filter { !$0.value.isEmpty }.map { "\($0.name)=\($0.value)" })
                    .joined(separator: " ")
            }
            #expect(vehicles == sheet.vehicles)
            return
        }
        let first = try #require(errors.first)
        #expect(first.hasPrefix("depot/tallinn.csv:\(refusal.words)"), "\(errors)")
        #expect(first.contains("\n  hint: ") && first.contains(refusal.hint), "\(errors)")
    }

    @Test(arguments: [
        ("select: {Depot: a}", "steps: [{wait: 1s}]"),
        ("select: {depot: a}", "steps: [{require: {label.Depot: a}}, {wait: 1s}]"),
        ("select: {ID: v}", "steps: [{wait: 1s}]\nrollout: {spread: [DEPOT]}"),
    ])
    func `a manifest names a column with or without capital letters`(
        select: String,
        rest: String
    ) throws {
        let manifest = "name: n\nvehicles: {from: f.csv, \(select)}\n\(rest)\n"
        let fleet = Array("Id;Serial;Family;Depot\nv;s;mcumgr;a\n".utf8)
        let read = try ManifestReader.read(Array(manifest.utf8), path: "m.yaml") {
            _,
            _ throws(FileError) in fleet
        }
        #expect(read.diagnostics.isEmpty, "\(read.diagnostics)")
        let plan = try #require(read.plan)
        #expect(JobBuilder(plan).mistakes.isEmpty)
        #expect(plan.vehicles.map(\.id.text) == ["v"])
        #expect(plan.vehicles.first?.value(of: "Depot") == "a")
    }
}
