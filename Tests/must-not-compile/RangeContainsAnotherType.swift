// one error: cannot convert value of type 'SQLExpression<Int>'
import Larder

func query(range: Range<Double>) { _ = City.filter { range.contains($0.population) } }
