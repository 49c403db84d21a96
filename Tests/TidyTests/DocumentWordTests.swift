import Base
import Commands
import Foundation
import Testing

/// Names and command lines in the documents are those of the program.
@Suite struct DocumentWordTests {
    private static let documents =
        ["README.md"]
        + [
            "architecture", "bluetooth", "car-share", "causes", "fleet", "images", "integrations",
            "library",
            "manifest", "nights", "operations", "profiles", "promises", "protocols", "simulation",
            "trust", "words",
        ].map { "docs/\($0).md" }

    /// What is between backticks in a document, without its blocks of code.
    private static func spans(_ document: String) throws -> [String] {
        var isBlock = false
        var text = ""
        for line in try Repository.text(document).split(separator: "\n") {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isBlock.toggle()
            } else if !isBlock {
                text += line + "\n"
            }
        }
        return text.matches(of: /`([^`]+)`/)
            .map { $0.1.split { $0 == "\n" || $0 == " " }.joined(separator: " ") }
    }

    /// The lines of a document's blocks of shell commands, without their comments.
    private static func commands(_ document: String) throws -> [String] {
        var language: Substring?
        var lines: [String] = []
        for line in try Repository.text(document).split(separator: "\n") {
            let line = line.drop { $0 == " " }
            if line.hasPrefix("```") {
                language = language == nil ? line.dropFirst(3) : nil
            } else if let language, ["sh", ""].contains(language) {
                lines.append(
                    String(
                        line.prefix(upTo: line.firstRange(of: " #")?.lowerBound ?? line.endIndex)
                    )
                )
            }
        }
        return lines
    }

    /// The words of a text: letters and digits, with `-` and `_` between them.
    private static func words(_ text: some StringProtocol, into found: inout Set<String>) {
        var bytes: [UInt8] = []
        func end() {
            while let last = bytes.last, last == 0x2D || last == 0x5F { bytes.removeLast() }
            if !bytes.isEmpty { found.insert(String(decoding: bytes, as: UTF8.self)) }
            bytes.removeAll(keepingCapacity: true)
        }
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: bytes.append(byte)
            case 0x2D, 0x5F:
                if let last = bytes.last, last != byte { bytes.append(byte) } else { end() }
            default: end()
            }
        }
        end()
    }

    /// Words of other programs, and those that stand for a person's own.
    private static let foreign: Set = [
        // Of other programs and files.
        "MaxConnectionInterval", "MinConnectionInterval", "ansible-vault", "auth_basic",
        "compression_format", "credentials_file", "http_authorization", "hw_boardname",
        "hw_revision",
        "imgtool", "lfs1", "msmtp-mta", "params",
        "pg_promote", "rule_files", "smpmgr", "synchronous_standby_names", "systemd-time-wait-sync",
        "USR1",
        // Names that are made of two.
        "Library", "Yardmaster_failed",
        // What somebody may write.
        "bus-1", "charging", "tallinn-secrets", "repository-NAME",
        "yardmaster-rehearsal-USER-PROCESS",
    ]

    @Test func `what a document writes as code is somewhere in the repository`() throws {
        var known = Self.foreign
        let folders = ["Sources", "packaging", "scripts", "manifests", "Examples", "Bench"]
        for source in try folders.flatMap({ try Repository.texts($0) }) {
            Self.words(source.name, into: &known)
            for line in source.lines { Self.words(line, into: &known) }
        }
        // Of tests only the names count, and their switches.
        for source in try Repository.sources("Tests") + Repository.sources("Fuzz") {
            Self.words(source.name, into: &known)
            for line in source.lines where line.contains("YARDMASTER_") || line.contains("GOLDEN") {
                Self.words(line, into: &known)
            }
        }
        // Another test compares the names of tests in the promises.
        for document in Self.documents where document != "docs/promises.md" {
            for span in try Self.spans(document) {
                var words: Set<String> = []
                // Fields of the service manager's journal are written without their beginning.
                let text = span.hasPrefix("_") ? "YARDMASTER" + span : span
                Self.words(text, into: &words)
                for word in words.sorted() where word.utf8.count > 2 && !known.contains(word) {
                    // A word in capitals stands for a value, and what begins with a digit is one.
                    let isValue =
                        word.first?.isNumber == true || word.allSatisfy(\.isHexDigit)
                        || word.allSatisfy { $0.isUppercase || $0 == "-" }
                    #expect(isValue, "\(document): `\(word)` in `\(span)`")
                }
            }
        }
    }

    /// The arguments of each call of the program in a line of a shell.
    private static func calls(_ line: String) -> [[String]] {
        var calls: [[String]] = []
        for part in line.split(whereSeparator: { "|;&".contains($0) }) {
            var words: [String] = []
            var word = ""
            var quote: Character?
            for character in part.drop(while: { $0 == " " }) + " " {
                if character == quote {
                    quote = nil
                } else if quote == nil, "'\"".contains(character) {
                    quote = character
                } else if quote == nil, character == " " {
                    if !word.isEmpty { words.append(word) }
                    word = ""
                } else {
                    word.append(character)
                }
            }
            if words.first == "sudo" {
                words.removeFirst()
                if words.first == "-u" { words.removeFirst(2) }
            }
            guard words.first == "yardmaster" else { continue }
            calls.append(words.dropFirst().prefix { !$0.hasPrefix(">") && !$0.hasPrefix("<") })
        }
        return calls
    }

    @Test(arguments: documents)
    func `a command line that a document shows is taken by the program`(document: String) throws {
        for line in try Self.commands(document) {
            for call in Self.calls(line) {
                #expect(throws: Never.self, "\(document): \(line)") { try Parser.parse(call) }
            }
        }
    }

    /// The lines of what is not part of the program.
    private static let scripts = ["scripts", "packaging"]
        .flatMap { (try? Repository.texts($0)) ?? [] }.flatMap(\.lines)

    @Test(arguments: documents)
    func `a command and its flags in a sentence are those of the program`(document: String) throws {
        let flags = Set(Command.all.flatMap { $0.flags.map { "--" + $0.long } })
        // Flags of other programs.
        let foreign = ["--append", "--groups", "--confirm", "--compression"]
        for span in try Self.spans(document) {
            let words = span.split { $0 == " " || $0 == "=" }.map(String.init)
            let named = Command.all.filter { command in
                words.drop { $0 == "yardmaster" }.starts(with: command.words)
            }
            let command = named.max { $0.words.count < $1.words.count }
            if span.hasPrefix("yardmaster "), words.count > 1, words[1].first?.isLowercase == true {
                let isGroup = Command.all.contains { $0.words.first == words[1] }
                #expect(command != nil || isGroup, "\(document): `\(span)`")
            }
            for word in words where word.hasPrefix("--") && word.count > 2 {
                let isKnown =
                    command.map { known in known.flags.contains { "--" + $0.long == word } }
                    ?? (flags.contains(word) || foreign.contains(word)
                        || Self.scripts.contains { $0.contains(word) })
                #expect(isKnown, "\(document): `\(word)` in `\(span)`")
            }
        }
    }
}
