import Base
import Foundation
import Rollout
import Show
import Store
import Testing

/// Reports that are written as files after a run.
@Suite struct DocumentTests {
    private func story() throws -> RunStory {
        var story = RunStory()
        for event in try Sample.full() { story.note(event) }
        return story
    }

    @Test func `each report of the sample is as kept`() throws {
        let story = try story()
        try Golden.expect(HTMLReport.text(story), equals: "report.html")
        try Golden.expect(JUnitReport.text(story), equals: "report.xml")
        try Golden.expect(CSVReport.text(story), equals: "report.csv")
        try Golden.expect(MetricsText.text(story), equals: "report.prom")
        try Golden.expect(try #require(story.document), equals: "report.json")
    }

    @Test func `the page refers to nothing outside itself and has every vehicle`() throws {
        let story = try story()
        let page = HTMLReport.text(story)
        for word in ["http://", "https://", "src=", "href=", "url(", "@import", "<script"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(story.vehicles.count == 5)
        for vehicle in story.vehicles {
            #expect(page.contains("<b>\(vehicle.id.text)</b>"))
        }
        // Text from a module contains no markup and no control sequence of a terminal.
        #expect(!page.contains("\u{1B}"))
    }

    @Test(arguments: ["report.html", "report.xml"])
    func `a page and a test report are well-formed`(name: String) throws {
        let story = try story()
        let text = name == "report.xml" ? JUnitReport.text(story) : HTMLReport.text(story)
        var open: [Substring] = []
        let single: Set<Substring> = ["meta", "br", "!DOCTYPE", "?xml"]
        for match in text.matches(of: /<(\/?)([A-Za-z!?][A-Za-z0-9]*)([^>]*?)(\/?)>/) {
            if single.contains(match.2) || !match.4.isEmpty { continue }
            if match.1.isEmpty {
                open.append(match.2)
            } else {
                #expect(open.popLast() == match.2)
            }
        }
        #expect(open.isEmpty)
    }

    @Test func `every adapter has its own line, with what it did`() throws {
        let page = HTMLReport.text(try story())
        let rows = page.split(separator: "<figcaption>").dropFirst()
        #expect(rows.map { $0.prefix(11) } == ["<b>hci0</b>", "<b>hci1</b>"])
        #expect(rows.first?.contains("v1: sending, 1") == true)
        #expect(rows.first?.contains("v5: sending") == false)
        #expect(rows.last?.contains("v5: sending, 9m29s") == true)
        #expect(rows.last?.contains("v1: sending") == false)
    }

    @Test func `an adapter that did nothing has a line too`() throws {
        var story = RunStory()
        for event in try Sample.full() {
            if case .stateChanged(_, _, "hci1", _) = event.body { continue }
            story.note(event)
        }
        #expect(
            HTMLReport.text(story).contains("<b>hci1</b> at work 0ms (0 % of the run), free 11m40s")
        )
    }

    @Test func `several links of one adapter lie below each other`() throws {
        var story = RunStory()
        let (a, b) = (try Sample.vehicle("a"), try Sample.vehicle("b"))
        for event in Sample.events([
            (0, .stateChanged(a, .transferring, adapter: "hci0", detail: nil)),
            (1_000, .stateChanged(b, .transferring, adapter: "hci0", detail: nil)),
            (9_000, .stateChanged(a, .settling, adapter: "hci0", detail: nil)),
            (9_500, .stateChanged(b, .settling, adapter: "hci0", detail: nil)),
            (20_000, .runEnded(Sample.end([:]))),
        ]) { story.note(event) }
        let page = HTMLReport.text(story)
        #expect(page.contains("viewBox=\"0 0 1000 46\""))
        #expect(page.contains("x=\"0.00\" y=\"0\" width=\"450.00\""))
        #expect(page.contains("x=\"50.00\" y=\"20\" width=\"425.00\""))
        #expect(page.contains("y=\"40\""))
        #expect(page.contains("at work 9.5s (1 % of the run), free 11m30s"))
    }

    @Test func `when an adapter was taken is drawn, as far as it is known`() throws {
        var story = RunStory()
        for event in try Sample.full() {
            guard case .runEnded(var end) = event.body else {
                story.note(event)
                continue
            }
            #expect(!HTMLReport.text(story).contains("<rect class=\"taken\""))
            end.adapters = [AdapterUse(name: "hci1", busy: .seconds(600))]
            end.adapters[0].spans = [.init(from: .seconds(100), to: .seconds(700))]
            story.note(Event(number: event.number, time: event.time, body: .runEnded(end)))
        }
        let rows = HTMLReport.text(story).split(separator: "<figcaption>").dropFirst()
        #expect(rows.first?.contains("\"taken\"") == false)
        #expect(
            rows.last?.contains("<rect class=\"taken\" x=\"141.39\" y=\"0\" width=\"858.61\"")
                == true
        )
        #expect(rows.last?.contains("at work 10m (86 % of the run), free 1m40s") == true)
    }

    @Test func `waves show how far they came, also those not begun`() throws {
        let page = HTMLReport.text(try story())
        let waves = page.split(separator: "<li><b>wave ").dropFirst().map {
            $0.prefix { $0 != "\n" }
        }
        #expect(waves.count == 3)
        #expect(waves[0].hasPrefix("1</b> <small>2 of 2 vehicles ended, 1 missed, took 1m14s"))
        #expect(
            waves[1].hasPrefix("2</b> <small>2 of 3 vehicles ended, 1 missed, 1 failed, not over")
        )
        #expect(waves[2].hasPrefix("3</b> <small>not begun"))
    }

    @Test func `a run that was cut off makes reports of what is known`() throws {
        var story = RunStory()
        for event in try Sample.full() {
            if case .runEnded = event.body { continue }
            story.note(event)
        }
        #expect(story.counts == [.succeeded: 1, .deferred: 1, .failed: 1, .unreachable: 1])
        #expect(story.unfinished == 2)
        let page = HTMLReport.text(story)
        #expect(page.contains("<b>Cut off</b>"))
        #expect(page.contains("<b data-count=\"unfinished\">2</b><span>◌ unfinished</span>"))
        let document = try #require(story.document)
        #expect(document.contains("\"counts\":{\"succeeded\":1,"))
        #expect(document.contains("\"unfinished\":2}}"))
        #expect(!document.contains("\"exit\""))
    }

    @Test func `an empty run makes reports too`() throws {
        var story = RunStory()
        #expect(MetricsText.text(story, earlier: "kept") == "kept")
        #expect(story.document == nil)
        #expect(story.counts.isEmpty && story.unfinished == 0)
        story.note(
            Event(number: 1, time: Sample.start, body: .runEnded(Sample.end([:])))
        )
        #expect(HTMLReport.text(story).contains("Nothing: every vehicle is where it should be."))
        #expect(CSVReport.text(story).split(separator: "\r\n").count == 1)
        #expect(JUnitReport.text(story).contains("tests=\"0\""))
    }

    @Test func `names that mean something elsewhere stay names`() throws {
        var story = RunStory()
        let id = try Sample.vehicle("1+1,\"<b>&'")
        story.note(
            Event(
                number: 1,
                time: Sample.start,
                body: .vehicleEnded(
                    id,
                    Verdict(
                        outcome: .failed,
                        failure: .device,
                        message: "=line\nbreak ]]> \u{0}",
                        attempts: 1,
                        bytesSent: .zero,
                        took: .seconds(1)
                    )
                )
            )
        )
        #expect(CSVReport.text(story).contains("\"1+1,\"\"<b>&'\""))
        #expect(CSVReport.text(story).contains(",'=line"))
        let xml = JUnitReport.text(story)
        #expect(xml.contains("1+1,&quot;&lt;b&gt;&amp;&#39;"))
        #expect(xml.contains("\\u{a}") && !xml.contains("\u{0}"))
    }

    @Test func `the last success outlives a run that failed`() throws {
        func end(_ code: Int) -> RunStory {
            var story = RunStory()
            for event in (try? Sample.full()) ?? [] {
                if case .runEnded = event.body { continue }
                story.note(event)
            }
            let time = Sample.start.advanced(by: .seconds(code == 0 ? 100 : 900))
            story.note(
                Event(number: 99, time: time, body: .runEnded(Sample.end([:], exit: code)))
            )
            return story
        }
        let good = MetricsText.text(end(0))
        let bad = MetricsText.text(end(10), earlier: good)
        let line = "yardmaster_run_last_success_timestamp_seconds{rollout=\"tallinn-4.12\"} "
        let stamp = "1795231900.000"
        #expect(good.contains(line + stamp))
        #expect(bad.contains(line + stamp))
        #expect(bad.contains("yardmaster_run_exit_code{rollout=\"tallinn-4.12\"} 10"))
        // A run that never ended well is as old as can be, so that an alert about its age is due.
        #expect(MetricsText.text(end(10)).contains(line + "0\n"))
    }
}
