package import Base
package import Commands
import Glibc
package import Show

/// A file for the report of a run.
package struct ReportFile: Sendable {
    enum Kind: String, CaseIterable {
        case html, xml, csv, json, prom
    }

    let path: String
    private let kind: Kind

    /// Nil when the suffix is of no kind of report.
    package init?(_ path: String) {
        guard let kind = Kind.allCases.first(where: { path.hasSuffix("." + $0.rawValue) }) else {
            return nil
        }
        self.path = path
        self.kind = kind
    }

    /// Checks now, and not only after a night's work, whether the report can be written.
    package func checkPlace() throws(CommandError) {
        do throws(FileFault) {
            if let facts = try FilePlace(path).facts(), facts.kind != .file {
                throw facts.kind == .link ? FileFault(code: ELOOP) : .notAFile
            }
            _ = try Draft.begin(for: path, mode: 0o644).get()
        } catch {
            throw CommandError(
                .cannotCreate,
                "cannot write the report '\(path)'",
                because: [error.description],
                hint: "name a file in a directory that can be written"
            )
        }
    }

    /// The same for commands that end when it cannot be written.
    package func write(of story: RunStory, zone: Zone) throws(CommandError) {
        guard let reason = write(story, zone: zone) else { return }
        throw CommandError(
            .cannotWrite,
            "the report \(path) was not written",
            because: [reason]
        )
    }

    /// Writes the report, replacing an older one completely or not at all; returns the reason of a
    /// failure.
    func write(_ story: RunStory, zone: Zone) -> String? {
        Draft.write(Array(text(story, zone).utf8), to: path, mode: 0o644).map {
            Descriptor.text(of: $0)
        }
    }

    private func text(_ story: RunStory, _ zone: Zone) -> String {
        switch kind {
        case .html: HTMLReport.text(story, zone: zone)
        case .xml: JUnitReport.text(story)
        case .csv: CSVReport.text(story)
        case .json: story.document ?? ""
        case .prom: MetricsText.text(story, earlier: earlier)
        }
    }

    /// The current content of the file; empty when it cannot be read or is not one of our reports.
    private var earlier: String {
        guard let descriptor = try? FilePlace.open(path, O_RDONLY) else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : ""
    }
}
