/// Names that were probably meant by one that does not exist.
public enum Spelling {
    /// The candidate that is nearest to `word`, where it is near enough to be a slip of the hand.
    public static func nearest(to word: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { ($0, distance($0.lowercased(), word.lowercased())) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        return best.1 <= max(2, word.utf8.count / 3) ? best.0 : nil
    }

    /// How many letters have to be put in, taken out or replaced (Levenshtein).
    static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a.utf8)
        let b = Array(b.utf8)
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let cost = min(diagonal + (a[i] == b[j] ? 0 : 1), row[j] + 1, row[j + 1] + 1)
                diagonal = row[j + 1]
                row[j + 1] = cost
            }
        }
        return row[b.count]
    }
}
