/// A number with its noun, as people read it: `1 name`, `2 names`.
public func counted(_ number: some BinaryInteger, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
}
