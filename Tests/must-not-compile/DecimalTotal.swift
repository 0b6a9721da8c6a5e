// error: quotients, means and totals of decimal numbers aren't exact: use `real` first
import Foundation
import Larder

func total(_ price: SQLExpression<Decimal>) -> SQLExpression<Double> { price.total() }
