import Base

/// What to do, as lines for people; long ones are folded by who prints them.
struct HelpText {
    /// What stands beside each vehicle.
    enum Detail {
        /// Its place, when it was heard, and what happened to it.
        case card((MorningPage.Card) -> String)
        /// Its place: what happened stands elsewhere on the screen.
        case name
    }

    let detail: Detail

    func lines(_ group: HelpGroup) -> [String] {
        [group.heading] + (group.work == .wait ? counts(group) : vehicles(group)).map { "  " + $0 }
            + group.commands.map { "  $ \($0.line.visible)   # \($0.when)" }
    }

    /// Nobody has to go to those that wait: they are a number.
    private func counts(_ group: HelpGroup) -> [String] {
        let items: [(words: String, cards: [MorningPage.Card])]
        switch detail {
        case .card: items = group.items.map { ($0.message, $0.cards) }
        case .name: items = group.causes
        }
        let shown = items.prefix(Self.mostReasons).map { words, cards in
            let only = cards.count == 1 ? cards[0].vehicle.text.visible : nil
            return "\(only ?? "\(cards.count) vehicles"): \(words.visible)"
        }
        let others = items.dropFirst(Self.mostReasons).reduce(0) { $0 + $1.cards.count }
        return shown + (others == 0 ? [] : ["\(others) more for other reasons"])
    }

    private static let mostReasons = 3

    private func vehicles(_ group: HelpGroup) -> [String] {
        switch detail {
        case .card(let card):
            group.items.flatMap { message, cards in
                cards.map(card) + ["  " + message.visible]
            }
        case .name:
            group.causes.map { words, cards in
                "\(words): \(cards.map(\.name.visible).joined(separator: ", "))"
            }
        }
    }
}
