// one error: only numbers have a mean
import Larder

func mean(_ name: SQLExpression<String>) -> SQLExpression<Double?> { name.average() }
